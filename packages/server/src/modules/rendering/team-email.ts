import { escapeHtml } from './html-text.ts';

/** Renders a plain email of the installation itself: its text, with links for its URLs. */
export function renderTeamLetter({ subject, text }: { subject: string; text: string }): string {
  const body = escapeHtml(text).replace(
    /https?:\/\/[^\s<>"]+[^\s<>".,;:)]/g,
    (url) => `<a href="${url}">${url}</a>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title></head>
<body style="margin:24px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"><div style="max-width:600px;white-space:pre-wrap">${body}</div></body></html>`;
}
