import { extname } from 'node:path';
import type { EmailSource } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { type Option, type OptionSource, readInput, readObject, text } from './options.ts';

const HELP =
  'Email as .md (with a --- head), .mjml (with mj-title and mj-preview), or .json: ' +
  '{"format": "markdown", "subject": "…", "preheader": "…", "body": "…"}';

/** An email from a file: JSON, or Markdown or MJML with the subject and preheader where each format has them. */
export function emailFile(): Option<EmailSource | undefined> {
  return text('--file <file>', HELP, async (path, source) => {
    const content = await readInput(path, source);
    const found = readEmail(path, content, source);
    const { format = 'markdown', subject = '', preheader = '', body = '' } = found;
    if ((format === 'markdown' || format === 'mjml') && subject !== '' && body !== '')
      return { format, subject, preheader, body };
    throw usage(`--file: ${path} needs a subject, a body, and the format markdown or mjml`, '--file');
  });
}

function readEmail(path: string, content: string, source: OptionSource): Record<string, string> {
  switch (extname(path).toLowerCase()) {
    case '.mjml':
      return { format: 'mjml', body: content, ...mjmlHead(content) };
    case '.md':
      return readMarkdown(content);
    default:
      return readJson(path, content, source);
  }
}

const SIGNS: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function mjmlHead(content: string): Record<string, string> {
  const inside = (tag: string): string =>
    (new RegExp(`<${tag}>([^<]*)</${tag}>`, 'i').exec(content)?.[1] ?? '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/&(amp|lt|gt|quot);/g, (all, name: string) => SIGNS[name] ?? all)
      .trim();
  return { subject: inside('mj-title'), preheader: inside('mj-preview') };
}

const HEAD = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/;

function readMarkdown(content: string): Record<string, string> {
  const [all = '', head = ''] = HEAD.exec(content) ?? [];
  const fields = head.split(/\r?\n/).flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    return colon < 1 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]];
  });
  return { ...Object.fromEntries(fields), format: 'markdown', body: content.slice(all.length) };
}

function readJson(path: string, content: string, source: OptionSource): Record<string, string> {
  const email = readObject(path, content, source);
  if (Object.values(email).every((value) => typeof value === 'string'))
    return email as Record<string, string>;
  throw usage(`--file: the values in ${path} must be texts`, '--file');
}
