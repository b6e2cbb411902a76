/** A small line chart as SVG: one line with labeled points over a logarithmic scale with a factor of ten. */
export type Curve = { title: string; x: string; y: string; points: [x: number, y: number][] };

const [WIDTH, HEIGHT] = [640, 320];
const INSIDE = { left: 64, right: 40, top: 48, bottom: 52 };

export function plot({ title, x, y, points }: Curve): string {
  const places = points.map(([at, value]): [number, number] => [Math.log10(Math.max(1, at)), value]);
  const [first = 0, last = 1] = [places[0]?.[0], places.at(-1)?.[0]];
  const top = niceAbove(Math.max(...points.map(([, value]) => value)));
  const across = (at: number): number =>
    INSIDE.left + ((at - first) / (last - first || 1)) * (WIDTH - INSIDE.left - INSIDE.right);
  const up = (value: number): number =>
    HEIGHT - INSIDE.bottom - (value / top) * (HEIGHT - INSIDE.top - INSIDE.bottom);
  const line = places.map(([at, value]) => `${across(at).toFixed(1)},${up(value).toFixed(1)}`).join(' ');
  const grid = [0, top / 2, top].map((value) => {
    const at = up(value).toFixed(1);
    return `<line class="grid" x1="${INSIDE.left}" x2="${WIDTH - INSIDE.right}" y1="${at}" y2="${at}"/><text class="end" x="${INSIDE.left - 8}" y="${at}" dy="4">${value}</text>`;
  });
  const dots = places.map(([at, value], nth) => {
    const [cx, cy] = [across(at).toFixed(1), up(value).toFixed(1)];
    const [count = 0, cost = 0] = points[nth] ?? [];
    return `<circle cx="${cx}" cy="${cy}" r="4"/><text class="middle" x="${cx}" y="${Number(cy) - 12}">${cost.toFixed(cost < 10 ? 1 : 0)}</text><text class="middle" x="${cx}" y="${HEIGHT - INSIDE.bottom + 18}">${count.toLocaleString('en')}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">`,
    `<style>${STYLE}</style><rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="${INSIDE.left}" y="24">${title}</text>`,
    `<text class="middle" x="${WIDTH / 2}" y="${HEIGHT - 12}">${x}</text><text class="end" x="${WIDTH - INSIDE.right}" y="24">${y}</text>`,
    ...grid,
    `<polyline points="${line}"/>`,
    ...dots,
    '</svg>\n',
  ].join('\n');
}

const STYLE =
  'text{font:12px system-ui,sans-serif;fill:#3a3f45}.title{font-weight:600;font-size:14px}.middle{text-anchor:middle}.end{text-anchor:end}' +
  'polyline{fill:none;stroke:#0b6e69;stroke-width:2}circle{fill:#0b6e69}.grid{stroke:#d5d9dd}.ground{fill:#fff}' +
  '@media(prefers-color-scheme:dark){text{fill:#c9ced4}.ground{fill:#16191d}.grid{stroke:#343a41}polyline{stroke:#4fc3bc}circle{fill:#4fc3bc}}';

/** Returns a round number above the highest point. */
function niceAbove(value: number): number {
  const step = 10 ** Math.floor(Math.log10(value * 1.2));
  return Math.ceil((value * 1.2) / step) * step;
}
