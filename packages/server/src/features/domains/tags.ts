/** `v=DKIM1; k=rsa; p=…`: in any order but the first, with any space. DKIM and DMARC write their records so. */
export type Tags = {
  /** Names in lower case; of two with one name the first. */
  values: ReadonlyMap<string, string>;
  /** The name of the first. */
  first: string | null;
  /** False where a part is no tag, or a name comes twice. */
  isClean: boolean;
};

const TAG = /^\s*([a-z][a-z0-9_]*)\s*=([\s\S]*)$/i;

export function readTags(text: string): Tags {
  const values = new Map<string, string>();
  let isClean = true;
  const parts = text.split(';');
  // A semicolon may end the last one.
  if (parts.at(-1)?.trim() === '') parts.pop();
  for (const part of parts) {
    const [, name, value] = TAG.exec(part) ?? [];
    const key = name?.toLowerCase();
    if (key === undefined || value === undefined || values.has(key)) isClean = false;
    else values.set(key, value.trim());
  }
  return { values, first: values.keys().next().value ?? null, isClean };
}
