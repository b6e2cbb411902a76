/** One dot that nobody sees. */
export const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export const GONE_PAGE = page(
  'This link leads nowhere',
  'It is not complete, or it is too old. Open the letter that you have it from and try the link there once more.',
);

export const LATER_PAGE = page('This link does not work just now', 'Please try it again in a minute.');

function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title>
<style>body{margin:15vh auto;max-width:32rem;padding:0 1.5rem;font:1.125rem/1.6 system-ui,sans-serif;color:#1f2328;background:#fff}</style>
</head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>
`;
}
