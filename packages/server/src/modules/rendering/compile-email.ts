import { type DefaultTreeAdapterMap, parseFragment } from 'parse5';
import { UNSUBSCRIBE } from './addresses.ts';
import { checkPage, type TemplateTag } from './check-page.ts';
import { compileMjml, inlineStylesFlaw, nestingFlaw, sectionsFlaw } from './compile-mjml.ts';
import { piecesOf } from './liquid-links.ts';
import { parsePart, SOURCE_MAX_CHARS } from './liquid.ts';

const PREVIEW = /<mj-preview\b[^<>]*>(?:(?!<mj-preview\b)[\s\S])*?<\/mj-preview\s*>/gi;

type CompiledEmail = { html: string } | { flaws: string[] };

/**
 * Compiles MJML to a page of HTML that still contains its Liquid. The compiler never sees the Liquid: markers replace it. The Liquid
 * returns only where a marker comes out in a place that is safe for any value.
 */
export async function compileEmail(source: string): Promise<CompiledEmail> {
  const body = source.replace(/\r\n?/g, '\n');
  const parsed = parsePart(body, 'line');
  if ('flaw' in parsed) {
    const { line, column, message } = parsed.flaw;
    return { flaws: [`line ${line}, column ${column}: ${message}`] };
  }
  if (/<\s*mj-include\b/i.test(body))
    return { flaws: ['mj-include is not allowed. Put the whole email into one template'] };
  // The preheader is a separate field, and must not be in the page twice.
  const { signed, templateTags, sign } = withSigns(body.replace(PREVIEW, onlyLines));
  const tooMuch = sectionsFlaw(signed) ?? nestingFlaw(signed) ?? inlineStylesFlaw(signed);
  if (tooMuch !== null) return { flaws: [tooMuch] };
  const compiled = await compileMjml(signed);
  if ('flaws' in compiled) return { flaws: compiled.flaws.map(flawText) };
  // Checked before the page is read, because MJML makes megabytes from a few kilobytes.
  const size = compiled.html.replace(sign, '').length;
  if (size > SOURCE_MAX_CHARS) return { flaws: [tooLong(size)] };
  const html = withCharacters(compiled.html);
  const { written, flaws } = checkPage(html, templateTags, sign);
  if (flaws.length > 0) return { flaws: flaws.map(flawText) };
  const inOrder = [...written].toSorted(([a], [b]) => a - b);
  return checkCompiled(withTags(html, inOrder), { templateTags, written: inOrder.map(([, text]) => text) });
}

function flawText({ message, line }: { message: string; line: number | null }): string {
  return line === null ? message : `line ${line}: ${message}`;
}

type Signed = { signed: string; templateTags: TemplateTag[]; sign: RegExp };

function withSigns(source: string): Signed {
  let word = 'bkplace';
  while (source.includes(word)) word += 'k';
  const templateTags: TemplateTag[] = [];
  let line = 1;
  let signed = '';
  for (const { kind, text } of piecesOf(source)) {
    if (kind === 'words') signed += text;
    else {
      signed += `${word}${templateTags.length}x`;
      templateTags.push({ text, kind, line });
    }
    line += text.split('\n').length - 1;
  }
  return { signed, templateTags, sign: new RegExp(`${word}(\\d+)x`, 'g') };
}

/** Replaces character references such as `&copy;` by the characters, except those that HTML syntax requires. */
function withCharacters(html: string): string {
  const characters = new Map<string, string>();
  return html.replace(/&(?!(?:amp|lt|gt|quot|apos|nbsp);)[a-zA-Z][a-zA-Z0-9]{1,30};/g, (name) => {
    const character = characters.get(name) ?? characterOf(name);
    characters.set(name, character);
    return character;
  });
}

function characterOf(name: string): string {
  const [first] = parseFragment(name).childNodes;
  const text = first?.nodeName === '#text' ? (first as DefaultTreeAdapterMap['textNode']).value : name;
  // The result must not contain characters that are special in Liquid or HTML.
  return /[&<>"'{}%]/.test(text) ? name : text;
}

function withTags(html: string, written: [number, string][]): string {
  let page = '';
  let from = 0;
  for (const [at, text] of written) {
    page += html.slice(from, at) + text;
    from = at + (/^[a-z]+\d+x/.exec(html.slice(at, at + 60))?.[0].length ?? 0);
  }
  return page + html.slice(from);
}

type CompiledTags = { templateTags: TemplateTag[]; written: string[] };

function checkCompiled(html: string, { templateTags, written }: CompiledTags): CompiledEmail {
  if (html.length > SOURCE_MAX_CHARS) return { flaws: [tooLong(html.length)] };
  const tags = templateTags.filter(({ kind }) => kind === 'tag').map(({ text }) => text);
  if (
    !isSame(
      tags,
      written.filter((text) => text.startsWith('{%')),
    )
  )
    return { flaws: [CONDITIONS] };
  const parsed = parsePart(html, 'html');
  if ('flaw' in parsed) return { flaws: [`the compiled HTML cannot be parsed: ${parsed.flaw.message}`] };
  // The rest of the page must not have become Liquid.
  const pieces = piecesOf(html).filter(({ kind }) => kind !== 'words');
  const placed = written.filter((text) => text !== UNSUBSCRIBE);
  return isSame(
    pieces.map(({ text }) => text),
    placed,
  )
    ? { html }
    : { flaws: [CONDITIONS] };
}

function tooLong(chars: number): string {
  const [has, most] = [chars, SOURCE_MAX_CHARS].map((count) => count.toLocaleString('en-US'));
  return `it compiles to ${has} characters of HTML; at most ${most} are allowed`;
}

const CONDITIONS =
  'MJML drops, moves or repeats a condition at this place; put a condition between components into <mj-raw>';

function isSame(texts: string[], others: string[]): boolean {
  return texts.length === others.length && texts.every((text, at) => text === others[at]);
}

function onlyLines(text: string): string {
  return text.replace(/[^\n]+/g, '');
}
