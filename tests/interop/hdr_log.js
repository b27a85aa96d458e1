/* SPDX-License-Identifier: MIT
 *
 * What hdr-histogram-js reads in an interval log, in the lines of HdrLog.java; the percentile
 * distribution of each tag over all intervals goes to DIR/TAG.hgrm.
 * Usage: node hdr_log.js NODE_MODULES LOG DIR
 */
'use strict';
const fs = require('fs');
const path = require('path');
const hdr = require(path.resolve(process.argv[2], 'hdr-histogram-js'));

const reader = new hdr.HistogramLogReader(fs.readFileSync(process.argv[3], 'utf8'), 64);
const merged = new Map();
for (let h; (h = reader.nextIntervalHistogram()) !== null;) {
  const start = h.startTimeStampMsec / 1000 - reader.startTimeSec;
  console.log([h.tag, start.toFixed(0), h.totalCount, ...[50, 90, 99, 99.9].map(
    (p) => h.getValueAtPercentile(p)), h.maxValue].join(' '));
  if (!merged.has(h.tag))
    merged.set(h.tag, hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: 60000000000,
      numberOfSignificantValueDigits: 3, bitBucketSize: 64 }));
  merged.get(h.tag).add(h);
}
for (const [tag, h] of merged)
  fs.writeFileSync(path.join(process.argv[4], tag + '.hgrm'), h.outputPercentileDistribution(5, 1));
