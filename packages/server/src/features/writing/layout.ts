import { readFileSync } from 'node:fs';

/** What `layout.mjml` compiles to, cut where a letter is put in. No letter waits for a compiler. */
const LAYOUT = readFileSync(new URL('./layout.compiled', import.meta.url), 'utf8');
const PIECES = LAYOUT.trimEnd().split(/%(LANGUAGE|DIRECTION|TITLE|PREHEADER|BODY|FOOTER)%/);

type Place = 'LANGUAGE' | 'DIRECTION' | 'TITLE' | 'PREHEADER' | 'BODY' | 'FOOTER';

/** All of it HTML already. */
export function laidOut(parts: Record<Place, string>): string {
  let html = '';
  for (const [at, piece] of PIECES.entries()) html += at % 2 === 0 ? piece : parts[piece as Place];
  return html;
}
