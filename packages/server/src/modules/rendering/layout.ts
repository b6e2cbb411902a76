import { readFileSync } from 'node:fs';

/** The compiled `layout.mjml`, cut where an email is inserted. No email waits for a compiler. */
const LAYOUT = readFileSync(new URL('./layout.compiled', import.meta.url), 'utf8');
const PIECES = LAYOUT.trimEnd().split(/%(LANGUAGE|DIRECTION|TITLE|PREHEADER|BODY|FOOTER)%/);

type LayoutPart = 'LANGUAGE' | 'DIRECTION' | 'TITLE' | 'PREHEADER' | 'BODY' | 'FOOTER';

/** Assembles the page. All parts are HTML already. */
export function laidOut(parts: Record<LayoutPart, string>): string {
  let html = '';
  for (const [at, piece] of PIECES.entries()) html += at % 2 === 0 ? piece : parts[piece as LayoutPart];
  return html;
}
