const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;
type Color = keyof typeof CODES;
export type Paint = (color: Color, text: string) => string;

/** Colors only repeat what the text says. */
export function painter(hasColors: boolean): Paint {
  if (!hasColors) return (_color, text) => text;
  return (color, text) => `\u001B[${CODES[color][0]}m${text}\u001B[${CODES[color][1]}m`;
}
