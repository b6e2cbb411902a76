/** The fields of a submitted form: the first value of a name, and all of them. */
export type Form = { get: (name: string) => string | null; all: (name: string) => string[] };

/** More than any of our forms, or the one line of a mail program, needs. */
export const FORM_MAX_BYTES = 16 * 1024;

/**
 * Reads both codings that RFC 8058 allows. A body of another or no media type is read as the usual one, because its content is
 * unmistakable. An unreadable body has no fields.
 */
export async function readForm(body: Buffer | null, contentType: string | undefined): Promise<Form> {
  if (body === null) return NOTHING;
  if (!/^multipart\/form-data\b/i.test(contentType ?? ''))
    return ofEntries(new URLSearchParams(body.toString()));
  try {
    const headers = { 'Content-Type': contentType ?? '' };
    return ofEntries(await new Response(new Uint8Array(body), { headers }).formData());
  } catch {
    return NOTHING;
  }
}

const NOTHING: Form = { get: () => null, all: () => [] };

function ofEntries(entries: Iterable<[string, unknown]>): Form {
  const texts = [...entries].flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []));
  const all = (wanted: string): string[] =>
    texts.filter(({ name }) => name === wanted).map(({ value }) => value);
  return { get: (wanted) => all(wanted)[0] ?? null, all };
}
