type Shapes = Record<string, (size: number) => string>;

/**
 * A language that outsiders write in: its pieces, and the code that reads it. `load` loads the modules after the counting of blocks has
 * begun.
 */
export type GrowthSubject = {
  name: string;
  charsMax: number;
  /** Pieces that are repeated. */
  pieces: string[];
  /** Pieces that hold others: how they open and close. */
  nests: [open: string, close: string][];
  /** Texts that grow in two dimensions at once: a loop and a literal in it, or the rows and the columns of a table. */
  shapes?: Shapes;
  /** The whole input around the part that grows. */
  frame(text: string): string;
  load(): Promise<(input: string) => unknown>;
};

/** Statements with a literal of any length. */
const LITERALS: [string, (literal: string) => string][] = [
  ['a long key', (literal) => `{{ user["${literal}"] }}`],
  ['a long name', (literal) => `{{ user.${literal.replaceAll('\u200B', 'k')} }}`],
  ['a long output', (literal) => `{{ "${literal}" }}`],
  ['a long comparison', (literal) => `{% if user.name == "${literal}" %}{% endif %}`],
  ['a long search', (literal) => `{% if user.name contains "${literal}" %}{% endif %}`],
  ['a long case', (literal) => `{% case user.name %}{% when "${literal}" %}{% endcase %}`],
  ['a long assignment', (literal) => `{% assign d = "${literal}" %}`],
  ['a long capture', (literal) => `{% capture d %}${literal}{% endcapture %}`],
  ['a long default', (literal) => `{{ user.none | default: "${literal}" | size }}`],
  ['a long argument of append', (literal) => `{{ "a" | append: "${literal}" | size }}`],
  ['a long argument of replace', (literal) => `{{ "a" | replace: "a", "${literal}" | size }}`],
  ['a long argument of split', (literal) => `{{ "${literal}" | split: "" | size }}`],
  ['a long date format', (literal) => `{{ event.occurred_at | date: "${literal}", locale: "de" | size }}`],
  [
    'a long date format behind its locale',
    (literal) => `{{ event.occurred_at | date: locale: "de", "${literal}" | size }}`,
  ],
];

export const LIQUID_SHAPES: Shapes = Object.fromEntries(
  LITERALS.flatMap(([name, statement]) =>
    ['k', '\u200B'].map((character) => [
      `a loop over ${name}${character === 'k' ? '' : ' of invisible characters'}`,
      (size: number) => `{% for i in (1..${size}) %}${statement(character.repeat(size))}{% endfor %}`,
    ]),
  ),
);

export const MARKDOWN_SHAPES: Shapes = {
  'a table of as many rows as columns': (size) =>
    `${'|a'.repeat(size)}\n${'|-'.repeat(size)}\n${'|\n'.repeat(size)}`,
  'a table whose rows are full': (size) =>
    `${'|a'.repeat(size / 10)}\n${'|-'.repeat(size / 10)}\n${`${'|a'.repeat(size / 10)}\n`.repeat(10)}`,
  'one long word': (size) => 'a'.repeat(size),
  'a link with a long address': (size) => `[a](https://a.b/${'c'.repeat(size)})`,
};

/** Shows that the search sees the work of native functions. It is not an input that outsiders can write. */
export const NATIVE: GrowthSubject = {
  name: 'native functions',
  charsMax: 100_000,
  pieces: [],
  nests: [],
  shapes: {
    'searches in a text that is as long as there are searches': (size) =>
      `includes ${size} ${'k'.repeat(size)}`,
    'patterns in a text that is as long as there are patterns': (size) =>
      `pattern ${size} ${'k'.repeat(size)}`,
    'one search in a long text': (size) => `includes 100 ${'k'.repeat(size)}`,
  },
  frame: (text) => text,
  load: () =>
    Promise.resolve((input) => {
      const [kind, times, text = ''] = input.split(' ');
      const search = kind === 'pattern' ? () => /z/.test(text) : () => text.includes('z');
      for (let n = 0; n < Number(times); n += 1) search();
    }),
};
