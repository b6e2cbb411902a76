import { LANGUAGES } from '../../../platform/recipient-texts/languages.ts';
import { negotiateLanguage } from '../../../platform/recipient-texts/negotiate-language.ts';

/** A transparent GIF of one pixel. */
export const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** The page of a link that cannot be followed, in a language of the browser. */
export function linkPage(state: 'invalid' | 'unavailable', accepted: string | undefined): string {
  const language = negotiateLanguage({ accepted });
  const { dir, unknownTitle, unknown, troubleTitle, linkUnavailable } = LANGUAGES[language];
  const [title, text] = state === 'invalid' ? [unknownTitle, unknown] : [troubleTitle, linkUnavailable];
  return `<!doctype html>
<html lang="${language}" dir="${dir}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title>
<style>body{margin:15vh auto;max-width:32rem;padding:0 1.5rem;font:1.125rem/1.6 system-ui,sans-serif;color:#1f2328;background:#fff}</style>
</head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>
`;
}
