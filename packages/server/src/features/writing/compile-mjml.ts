/** `html`, or what is wrong with it, in words for whoever wrote it. */
export type Compiled = { html: string } | { flaws: { message: string; line: number | null }[] };

/** Loaded when somebody first saves such a letter: no other process needs the compiler. Nothing is read from disk or fetched. */
export async function compileMjml(source: string): Promise<Compiled> {
  const { default: mjml2html } = await import('mjml');
  try {
    const { html } = await mjml2html(source, {
      validationLevel: 'strict',
      keepComments: false,
      ignoreIncludes: true,
      fonts: {},
    });
    return { html: squeezed(html) };
  } catch (error) {
    return { flaws: flawsOf(error) };
  }
}

/** Half of what the compiler writes is indentation. Between tags a line's end stays as a space that shows where it showed. */
function squeezed(html: string): string {
  if (/<(?:pre|textarea)\b/i.test(html)) return html;
  return html
    .replace(/(?<![ \t])[ \t]*\n\s*/g, '\n')
    .replace(/<(\w+)\n/g, '<$1 ')
    .replace(/"\n>/g, '">')
    .trim();
}

type Listed = { errors?: { line?: number; message?: string; tagName?: string }[] };

function flawsOf(error: unknown): { message: string; line: number | null }[] {
  const listed = (error as Listed).errors ?? [];
  if (listed.length === 0)
    return [{ message: error instanceof Error ? error.message : String(error), line: null }];
  return listed.map(({ line, message, tagName }) => ({
    message: `${tagName === undefined ? '' : `${tagName}: `}${message ?? 'cannot be read'}`,
    line: line ?? null,
  }));
}
