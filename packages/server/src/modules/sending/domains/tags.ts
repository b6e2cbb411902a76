/**
 * The tags of a record such as `v=DKIM1; k=rsa; p=…`, the syntax of DKIM and DMARC. The first tag is fixed. The others can have any order,
 * with any spaces.
 */
export type Tags = {
  /** Names in lower case. For a repeated name, the first value counts. */
  values: ReadonlyMap<string, string>;
  /** The name of the first tag. */
  first: string | null;
  /** False if a part is not a tag or a name is repeated. */
  isClean: boolean;
};

const TAG = /^\s*([a-z][a-z0-9_]*)\s*=([\s\S]*)$/i;

export function readTags(text: string): Tags {
  const values = new Map<string, string>();
  let isClean = true;
  const parts = text.split(';');
  // The last tag may end with a semicolon.
  if (parts.at(-1)?.trim() === '') parts.pop();
  for (const part of parts) {
    const [, name, value] = TAG.exec(part) ?? [];
    const key = name?.toLowerCase();
    if (key === undefined || value === undefined || values.has(key)) isClean = false;
    else values.set(key, value.trim());
  }
  return { values, first: values.keys().next().value ?? null, isClean };
}
