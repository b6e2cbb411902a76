import { extname } from 'node:path';
import { readJson, readText } from './json-file.ts';

/**
 * A letter out of a file: the whole of it as JSON, or its text as Markdown or MJML, with its subject and preheader where
 * people who write in these put them.
 */
export async function readLetterFile(path: string): Promise<unknown> {
  switch (extname(path).toLowerCase()) {
    case '.mjml':
      return readMjml(await readText(path));
    case '.md':
      return readMarkdown(await readText(path));
    default:
      return readJson(path);
  }
}

function readMjml(body: string): object {
  const [subject, preheader] = ['mj-title', 'mj-preview'].map((tag) => insideOf(body, tag));
  return { format: 'mjml', body, ...given({ subject, preheader }) };
}

function insideOf(text: string, tag: string): string | undefined {
  const inside = new RegExp(`<${tag}>([^<]*)</${tag}>`, 'i').exec(text)?.[1];
  const signs: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return inside
    ?.replace(/\s+/g, ' ')
    .replace(/&(amp|lt|gt|quot);/g, (all, name: string) => signs[name] ?? all)
    .trim();
}

const HEAD = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/;

function readMarkdown(text: string): object {
  const [all = '', head = ''] = HEAD.exec(text) ?? [];
  const lines = head.split(/\r?\n/).filter((line) => line.trim() !== '');
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return colon === -1 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { format: 'markdown', ...Object.fromEntries(fields), body: text.slice(all.length) };
}

function given(fields: Record<string, string | undefined>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
