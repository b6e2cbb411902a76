const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;
export type Colour = keyof typeof CODES;
export type Paint = (colour: Colour, text: string) => string;

/** Colours are an addition: nothing is said by them alone. */
export function painter(hasColours: boolean): Paint {
  if (!hasColours) return (_colour, text) => text;
  return (colour, text) => `\u001B[${CODES[colour][0]}m${text}\u001B[${CODES[colour][1]}m`;
}
