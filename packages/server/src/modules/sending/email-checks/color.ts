import { clampRgb, type Color, converter, formatHex, parse, type Rgb, wcagContrast } from 'culori';

/** Red, green and blue from 0 to 1, and the opacity from 0 to 1. */
export type Colour = Rgb & { alpha: number };

export const BLACK: Colour = { mode: 'rgb', r: 0, g: 0, b: 0, alpha: 1 };
export const WHITE: Colour = { mode: 'rgb', r: 1, g: 1, b: 1, alpha: 1 };

const VALUE_MAX_CHARS = 100;
const toRgb = converter('rgb');

/** Reads a color of CSS or of an attribute such as `bgcolor`. Returns undefined for values that only a browser could resolve. */
export function parseColour(text: string): Colour | undefined {
  const parsed = parsedOf(text.slice(0, VALUE_MAX_CHARS).trim().toLowerCase());
  if (!parsed) return undefined;
  const { r, g, b, alpha = 1 } = clampRgb(toRgb(parsed));
  return { mode: 'rgb', r, g, b, alpha };
}

/** The parser accepts hex digits without `#`, which no browser does, and throws for `hsl(1x 1% 1%)`. */
function parsedOf(text: string): Color | undefined {
  try {
    return /^[\da-f]*$/.test(text) ? undefined : parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the visible color of `top` on an opaque `ground`. */
export function upon(top: Colour, ground: Colour): Colour {
  const mix = (a: number, b: number): number => a * top.alpha + b * (1 - top.alpha);
  return { mode: 'rgb', r: mix(top.r, ground.r), g: mix(top.g, ground.g), b: mix(top.b, ground.b), alpha: 1 };
}

/** Returns the contrast ratio of WCAG 2.2, from 1 (unreadable) to 21 (black on white). */
export const contrastRatio = wcagContrast;

/** Prints a color as `#rrggbb`, without alpha. */
export const printColour = (colour: Colour): string => formatHex(colour);
