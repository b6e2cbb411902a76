/** Parts of red, green and blue from 0 to 255, and how much of it covers what is behind, from 0 to 1. */
export type Colour = { red: number; green: number; blue: number; alpha: number };

/** Of a value in CSS or of an attribute such as `bgcolor`; undefined for what only a browser could say. */
export function parseColour(text: string): Colour | undefined {
  const value = text.slice(0, VALUE_MAX_CHARS).trim().toLowerCase();
  if (value === 'transparent') return { ...BLACK, alpha: 0 };
  const named = NAMED.get(value);
  const hex = named ?? (value.startsWith('#') ? value.slice(1) : undefined);
  return hex === undefined ? parseFunction(value) : parseHex(hex);
}

export const BLACK: Colour = { red: 0, green: 0, blue: 0, alpha: 1 };
export const WHITE: Colour = { red: 255, green: 255, blue: 255, alpha: 1 };

/** What is seen where one lies upon the other, which covers all that is behind it. */
export function upon(top: Colour, ground: Colour): Colour {
  const mix = (a: number, b: number): number => a * top.alpha + b * (1 - top.alpha);
  return {
    red: mix(top.red, ground.red),
    green: mix(top.green, ground.green),
    blue: mix(top.blue, ground.blue),
    alpha: 1,
  };
}

/** From 1, where nothing can be read, to 21, black on white: WCAG 2.2, "contrast ratio". */
export function contrastRatio(a: Colour, b: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

export function printColour({ red, green, blue }: Colour): string {
  const parts = [red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, '0'));
  return `#${parts.join('')}`;
}

function luminance({ red, green, blue }: Colour): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

const VALUE_MAX_CHARS = 100;

function parseHex(hex: string): Colour | undefined {
  if (!/^(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.test(hex)) return undefined;
  const long = hex.length <= 4 ? hex.replaceAll(/./g, '$&$&') : hex;
  const [red = 0, green = 0, blue = 0, alpha = 255] = [0, 2, 4, 6]
    .filter((at) => at < long.length)
    .map((at) => Number.parseInt(long.slice(at, at + 2), 16));
  return { red, green, blue, alpha: alpha / 255 };
}

function parseFunction(value: string): Colour | undefined {
  const [, name, inner = ''] = /^(rgb|hsl)a?\(([\d\s.,%/degturnadn+-]*)\)$/.exec(value) ?? [];
  const parts = inner.split(/[\s,/]+/).filter((part) => part !== '');
  const [a, b, c, d = '1'] = parts;
  if (name === undefined || a === undefined || b === undefined || c === undefined || parts.length > 4)
    return undefined;
  const alpha = clamp(share(d, 1), 1);
  const colour =
    name === 'rgb'
      ? { red: clamp(share(a, 255), 255), green: clamp(share(b, 255), 255), blue: clamp(share(c, 255), 255) }
      : fromHsl(degrees(a), clamp(share(b, 1), 1), clamp(share(c, 1), 1));
  return [...Object.values(colour), alpha].every(Number.isFinite) ? { ...colour, alpha } : undefined;
}

/** A number as it is, or so much of the whole. */
function share(text: string, whole: number): number {
  return text.endsWith('%') ? (Number(text.slice(0, -1)) / 100) * whole : Number(text);
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}

const TURN = new Map([
  ['', 1],
  ['deg', 1],
  ['turn', 360],
  ['rad', 180 / Math.PI],
  ['grad', 0.9],
]);

function degrees(text: string): number {
  const [, number = '', unit = ''] = /^([+-]?[\d.]+)([a-z]*)$/.exec(text) ?? [];
  const turned = number === '' ? Number.NaN : Number(number) * (TURN.get(unit) ?? Number.NaN);
  return ((turned % 360) + 360) % 360;
}

function fromHsl(hue: number, saturation: number, lightness: number): Omit<Colour, 'alpha'> {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (n: number): number => {
    const k = (n + hue / 30) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return { red: part(0), green: part(8), blue: part(4) };
}

/** The names of CSS Color 4, each with its parts in hex. */
const NAMED = new Map(
  `aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4 black 000000
blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00
chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff darkblue 00008b
darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b darkmagenta 8b008b
darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f
darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493
deepskyblue 00bfff dimgray 696969 dimgrey 696969 dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0 forestgreen 228b22
fuchsia ff00ff gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray 808080 green 008000
greenyellow adff2f grey 808080 honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c
lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080
lightcyan e0ffff lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1
lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899 lightslategrey 778899
lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000
mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371
mediumslateblue 7b68ee mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970
mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000
olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee
palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6
purple 800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1 saddlebrown 8b4513 salmon fa8072
sandybrown f4a460 seagreen 2e8b57 seashell fff5ee sienna a0522d silver c0c0c0 skyblue 87ceeb slateblue 6a5acd
slategray 708090 slategrey 708090 snow fffafa springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8
tomato ff6347 turquoise 40e0d0 violet ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32`
    .match(/\b[a-z]+ [\da-f]{6}\b/g)
    ?.map((pair) => pair.split(' ') as [string, string]),
);
