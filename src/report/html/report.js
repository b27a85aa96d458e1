/* Adds to a report, which is complete without scripts: values under the pointer, switches for back
 * ends, buttons that copy pictures and their data, sortable tables, a search in flame graphs, and a
 * switch for the theme. */
'use strict';
(() => {
  const all = (selector, from) => [...(from || document).querySelectorAll(selector)];
  const make = (name, text) => Object.assign(document.createElement(name), {textContent: text});

  function button(text, label, act) {
    const b = make('button', text);
    b.type = 'button';
    b.title = label;
    b.addEventListener('click', () => act(b));
    return b;
  }

  /* ---- theme ---- */
  function addThemeSwitch() {
    const root = document.documentElement;
    const isDark = () => (root.dataset.theme ||
      (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
    document.querySelector('nav').append(button('light / dark', 'Switch the colors', () => {
      root.dataset.theme = isDark() ? 'light' : 'dark';
    }));
  }

  /* ---- switches for back ends ---- */
  function addSwitches() {
    for (const item of all('[data-switch]')) {
      const series = item.dataset.switch;
      const b = button('', 'Show or hide', () => {
        const isOn = b.getAttribute('aria-pressed') !== 'true';
        for (const e of all(`[data-s="${series}"]`)) e.classList.toggle('off', !isOn);
        for (const e of all(`[data-switch="${series}"] button`)) e.setAttribute('aria-pressed', isOn);
      });
      b.setAttribute('aria-pressed', 'true');
      b.append(...item.childNodes);
      item.append(b);
    }
  }

  /* ---- values of a picture ---- */
  function axisOf(svg, name) {
    const [scale, unit, low, high, from, to] = svg.dataset[name].split(' ');
    const forward = {linear: v => v, log: Math.log10, percentile: v => -Math.log10(1 - v)}[scale];
    const back = {linear: v => v, log: v => 10 ** v, percentile: v => 1 - 10 ** -v}[scale];
    const a = forward(+low), b = forward(+high);
    return {unit, value: px => back(a + (px - from) / (to - from) * (b - a)), from: +from, to: +to};
  }

  function scaled(x, step, names) {
    let i = 0;
    while (i + 1 < names.length && Math.abs(x) >= step) { x /= step; i++; }
    return `${+x.toPrecision(3)} ${names[i]}`.trim();
  }

  const spans = JSON.parse(document.body.dataset.spans);

  function show(unit, x) {
    switch (unit) {
    case 'time':
      for (const [least, ns, name] of spans)
        if (x >= least) return `${+(x / ns).toPrecision(3)} ${name}`;
      return scaled(x, 1000, ['ns', 'µs', 'ms', 's']);
    case 'bytes': return scaled(x, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
    case 'ratio': return show('change', x - 1);
    case 'change': return `${x > 0 ? '+' : ''}${+(100 * x).toPrecision(3)} %`;
    case 'quantile': return `${+(100 * x).toFixed(Math.min(8, Math.max(1, 1 - Math.log10(1 - x))))} %`;
    default: return scaled(x, 1000, ['', 'k', 'M', 'G', 'T']);
    }
  }

  /* Returns the points of a path in px. Paths of a report use only M, l, h and v. */
  function pointsOf(path) {
    const points = [];
    let x = 0, y = 0;
    for (const [, op, rest] of path.getAttribute('d').matchAll(/([Mlhv])([^Mlhvz]*)/g)) {
      const n = (rest.match(/-?(?:\d+\.?\d*|\.\d+)/g) || []).map(Number);
      if (op === 'M') [x, y] = n;
      else if (op === 'l') { x += n[0]; y += n[1]; }
      else if (op === 'h') x += n[0];
      else y += n[0];
      points.push([x, y]);
    }
    return points;
  }

  function curvesOf(svg) {
    return all('g[data-s]', svg).filter(g => g.querySelector('title') &&
      g.querySelector('path[fill="none"]')).map(g => ({
      group: g, name: g.querySelector('title').textContent,
      points: all('path[fill="none"]', g).flatMap(pointsOf),
    }));
  }

  function heightAt(points, x) {
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1], points[i]];
      if (a[0] <= x && x <= b[0] && b[0] > a[0])
        return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
    }
    return NaN;
  }

  function addHover(figure, svg) {
    let curves = null;
    const box = make('div', '');
    box.className = 'value off';
    figure.append(box);
    svg.addEventListener('pointerleave', () => box.classList.add('off'));
    svg.addEventListener('pointermove', event => {
      curves = curves || curvesOf(svg);
      const at = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(svg.getScreenCTM().inverse()).x;
      const x = axisOf(svg, 'x'), y = axisOf(svg, 'y');
      const lines = curves.filter(c => !c.group.classList.contains('off'))
        .map(c => [c.name, heightAt(c.points, at)]).filter(([, h]) => !Number.isNaN(h))
        .map(([name, h]) => `${name}  ${show(y.unit, y.value(h))}`);
      box.textContent = [show(x.unit, x.value(at)), ...new Set(lines)].join('\n');
      box.classList.toggle('off', lines.length === 0);
    });
  }

  /* ---- copies ---- */
  function said(b, text) {
    const before = b.textContent;
    b.textContent = text;
    setTimeout(() => { b.textContent = before; }, 1200);
  }

  /* Copies by a text area, because not every browser has navigator.clipboard for file://. */
  function copy(b, text) {
    const area = make('textarea', '');
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    said(b, isDone ? 'copied' : 'not allowed here');
  }

  const svgText = svg => new XMLSerializer().serializeToString(svg);

  function dataText(svg) {
    const x = axisOf(svg, 'x'), y = axisOf(svg, 'y');
    const rows = curvesOf(svg).flatMap(c => c.points.map(([px, py]) =>
      [c.name.replace(/[\t\n]/g, ' '), x.value(px).toPrecision(6), y.value(py).toPrecision(3)].join('\t')));
    return ['name\tx\ty', ...rows].join('\n');
  }

  function addTools() {
    for (const figure of all('figure')) {
      const svg = figure.querySelector(':scope > svg');
      if (!svg) continue;
      const tools = make('span', '');
      tools.className = 'tools';
      tools.append(button('SVG', 'Copy this picture as SVG', b => copy(b, svgText(svg))));
      if (svg.dataset.x && svg.dataset.y && curvesOf(svg).length > 0) {
        tools.append(button('data', 'Copy the values of the curves', b => copy(b, dataText(svg))));
        addHover(figure, svg);
      }
      if (svg.dataset.flame) addFlame(svg, tools);
      figure.querySelector('figcaption').append(tools);
    }
  }

  /* ---- tables ---- */
  function addSorting() {
    for (const table of all('table').filter(t => t.querySelector('td[data-v]'))) {
      const body = table.tBodies[0];
      all('th.n', table.tHead).forEach(head => {
        const b = button('', 'Sort by this column', () => {
          const value = row => +row.cells[head.cellIndex].dataset.v;
          const sign = head.getAttribute('aria-sort') === 'descending' ? -1 : 1;
          for (const other of all('th', table.tHead)) other.removeAttribute('aria-sort');
          head.setAttribute('aria-sort', sign > 0 ? 'descending' : 'ascending');
          body.append(...[...body.rows].sort((x, y) => sign * (value(y) - value(x))));
        });
        b.append(...head.childNodes);
        head.append(b);
      });
    }
  }

  /* ---- flame graphs ---- */
  const CHARACTER = 7.3;

  function boxOf(g) {
    const [title, rect, text] = ['title', 'rect', 'text'].map(n => g.querySelector(n));
    const name = title.textContent.replace(/: [^:]*$/, '');
    return {g, rect, text, name, x: +rect.getAttribute('x'), width: +rect.getAttribute('width')};
  }

  /* Cuts the text to the width of the box. */
  function label(svg, box, x, width) {
    const n = Math.floor((width - 8) / CHARACTER);
    if (n >= 3 && !box.text) {
      box.text = document.createElementNS(svg.namespaceURI, 'text');
      box.text.setAttribute('y', +box.rect.getAttribute('y') + 13);
      box.g.append(box.text);
    }
    if (!box.text) return;
    box.text.setAttribute('x', x + 4);
    box.text.textContent = n < 3 ? '' : box.name.length <= n ? box.name : box.name.slice(0, n - 1) + '…';
  }

  /* Zooms: shows the boxes above and below, with this box as wide as the picture. */
  function zoom(svg, boxes, to) {
    const root = boxes[0], scale = root.width / to.width;
    for (const box of boxes) {
      const from = Math.max(box.x, to.x), end = Math.min(box.x + box.width, to.x + to.width);
      const x = root.x + (from - to.x) * scale, width = Math.max(0, end - from) * scale;
      box.g.classList.toggle('off', width < 0.3);
      box.rect.setAttribute('x', x);
      box.rect.setAttribute('width', width);
      label(svg, box, x, width);
    }
  }

  /* Returns the share of the picture under the found boxes. */
  function found(boxes, words) {
    let end = -1, sum = 0;
    for (const box of boxes.filter(b => b.name.toLowerCase().includes(words)).sort((a, b) => a.x - b.x)) {
      sum += Math.max(0, box.x + box.width - Math.max(end, box.x));
      end = Math.max(end, box.x + box.width);
    }
    return sum / boxes[0].width;
  }

  function addFlame(svg, tools) {
    const boxes = all('g', svg).map(boxOf), input = make('input', ''), share = make('span', '');
    input.type = 'search';
    input.placeholder = 'find a function';
    input.setAttribute('aria-label', 'Find a function in the picture');
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase();
      for (const box of boxes)
        box.g.classList.toggle('miss', words !== '' && !box.name.toLowerCase().includes(words));
      share.textContent = words === '' ? '' : `${(100 * found(boxes, words)).toFixed(1)} %`;
    });
    for (const box of boxes) box.g.addEventListener('click', () => zoom(svg, boxes, box));
    tools.prepend(input, share, button('whole', 'Show the whole picture', () => zoom(svg, boxes, boxes[0])));
  }

  addThemeSwitch();
  addSwitches();
  addTools();
  addSorting();
})();
