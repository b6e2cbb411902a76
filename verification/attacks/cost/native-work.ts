/**
 * Counts the characters that native functions of strings and patterns read or write, because the profiler counts only blocks of JavaScript.
 * A search counts up to the position that it reaches. `slice` and `substring` count nothing: they share the memory of their text.
 */
let characters = 0;

/** Returns the characters counted since the last call. */
export function takeCharacters(): number {
  const previous = characters;
  characters = 0;
  return previous;
}

type Measure = (result: unknown, text: string, args: unknown[]) => number;

const whole: Measure = (_result, text) => text.length;
const asResult: Measure = (result) => (typeof result === 'string' ? result.length : 0);
const bothEnds: Measure = (result, text) => text.length + asResult(result, text, []);
/** Counts the characters from the start of the search to its match. */
const upTo: Measure = (result, text, [searched, from]) => {
  const start = typeof from === 'number' ? Math.max(0, Math.min(from, text.length)) : 0;
  const end = typeof result === 'number' && result >= 0 ? result + String(searched).length : text.length;
  return Math.max(1, end - start);
};
const argument: Measure = (_result, text, [other]) => Math.min(text.length, String(other).length);

const OF_STRINGS: Record<string, Measure> = {
  at: () => 1,
  concat: asResult,
  endsWith: argument,
  includes: (result, text, args) => upTo(result === true ? text.indexOf(String(args[0])) : -1, text, args),
  indexOf: upTo,
  lastIndexOf: (result, text) => text.length - Math.max(0, Number(result)),
  localeCompare: argument,
  normalize: bothEnds,
  padEnd: asResult,
  padStart: asResult,
  repeat: asResult,
  replace: bothEnds,
  replaceAll: bothEnds,
  split: whole,
  startsWith: argument,
  toLowerCase: whole,
  toUpperCase: whole,
};

/** Wraps the native functions of this thread permanently. */
export function countCharacters(): void {
  for (const [name, measure] of Object.entries(OF_STRINGS))
    wrap(String.prototype, name, (result, text, args) => {
      // A pattern is counted by its execution.
      characters += args[0] instanceof RegExp ? 0 : measure(result, String(text), args);
    });
  wrap(String.prototype, Symbol.iterator, (_result, text) => {
    characters += String(text).length;
  });
  wrap(Array.prototype, 'join', (result) => {
    characters += String(result).length;
  });
  wrapExec();
}

type Count = (result: unknown, self: unknown, args: unknown[]) => void;

function wrap(prototype: object, name: PropertyKey, count: Count): void {
  const native = Reflect.get(prototype, name) as (...args: unknown[]) => unknown;
  Object.defineProperty(prototype, name, {
    configurable: true,
    writable: true,
    value(this: unknown, ...args: unknown[]) {
      const result = Reflect.apply(native, this, args);
      count(result, this, args);
      return result;
    },
  });
}

/** Wraps `exec`. `test`, `match`, `replace` and `split` call it once it is not the native function. */
function wrapExec(): void {
  const native = Reflect.get(RegExp.prototype, 'exec') as (text: string) => RegExpExecArray | null;
  RegExp.prototype.exec = function exec(this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const match = Reflect.apply(native, this, [text]);
    const end =
      match === null ? (this.sticky ? from + 1 : String(text).length) : match.index + match[0].length;
    characters += Math.max(1, end - from);
    return match;
  };
}
