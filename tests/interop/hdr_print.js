/* SPDX-License-Identifier: MIT
 *
 * What the npm package hdr-histogram-js reads in the "base64" lines of its input, in the layout
 * of hdr_print.c; its own encoding comes as "base64". Usage: node hdr_print.js NODE_MODULES.
 */
'use strict';
const fs = require('fs');
const path = require('path');
const hdr = require(path.resolve(process.argv[2], 'hdr-histogram-js'));

const PERCENTILES = ['0', '1', '5', '10', '25', '50', '75', '90', '99', '99.9', '99.99',
  '99.999', '100'];

function print(h) {
  console.log('base64 ' + hdr.encodeIntoCompressedBase64(h));
  console.log('total ' + h.totalCount);
  console.log('min ' + (h.totalCount === 0 ? 0 : h.getCountAtIndex(0) > 0 ? 0 : h.minNonZeroValue));
  console.log('max ' + h.maxValue);
  for (const p of PERCENTILES)
    console.log('percentile ' + p + ' ' + h.getValueAtPercentile(Number(p)));
  console.log('mean ' + h.mean.toFixed(3));
  console.log('stddev ' + h.stdDeviation.toFixed(3));
}

for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
  if (line.startsWith('input'))
    console.log(line);
  if (line.startsWith('base64 ')) {
    /* 64: counters of 32 bits, the default, overflow */
    print(hdr.decodeFromCompressedBase64(line.slice(7), 64));
  }
}
