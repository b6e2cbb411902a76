/**
 * Counts the characters that native string functions read or copy while `work` runs: of the text and of text arguments. The time of these
 * functions grows with length, which a count of calls would not show.
 */
export function countCharacters(work: () => unknown): number {
  const counter: Counter = { characters: 0, isInside: false };
  const restore = [
    ...STRING_METHODS.map((name) =>
      watch(counter, String.prototype, { name, reads: (self, args) => [self, ...args] }),
    ),
    ...['exec', 'test'].map((name) => watch(counter, RegExp.prototype, { name, reads: (_, args) => args })),
    watch(counter, Array.prototype, { name: 'join', reads: (_, args) => args, isWritten: true }),
    watch(counter, Object.prototype, { name: 'hasOwnProperty', reads: (_, args) => args }),
    watch(counter, Object, { name: 'hasOwn', reads: (_, args) => args }),
    watch(counter, JSON, { name: 'stringify', reads: () => [], isWritten: true }),
    watch(counter, globalThis, { name: 'encodeURIComponent', reads: (_, args) => args, isWritten: true }),
  ];
  try {
    work();
  } finally {
    for (const undo of restore) undo();
  }
  return counter.characters;
}

const STRING_METHODS = (
  'at concat endsWith includes indexOf isWellFormed lastIndexOf match matchAll normalize padEnd padStart repeat replace ' +
  'replaceAll search split startsWith toLowerCase toUpperCase toWellFormed trim trimEnd trimStart'
).split(' ');

/** `isInside`: a native function may call others, such as `replace` the `exec` of its pattern. Only the outer one counts. */
type Counter = { characters: number; isInside: boolean };
type Watched = {
  name: string;
  reads: (self: unknown, args: unknown[]) => unknown[];
  isWritten?: boolean;
};

function watch(counter: Counter, owner: object, { name, reads, isWritten = false }: Watched): () => void {
  const method = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  const count = (value: unknown): void => {
    if (typeof value === 'string') counter.characters += value.length;
  };
  Reflect.set(owner, name, function watched(this: unknown, ...args: unknown[]) {
    if (counter.isInside) return method.apply(this, args);
    counter.isInside = true;
    try {
      for (const value of reads(this, args)) count(value);
      const result = method.apply(this, args);
      if (isWritten) count(result);
      return result;
    } finally {
      counter.isInside = false;
    }
  });
  return () => void Reflect.set(owner, name, method);
}
