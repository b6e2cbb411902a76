import { type EmailCheck, type CheckedEmail, type CheckFinding, findingsOf, checkResult } from './check.ts';
import { attribute, type EmailHtml, type PageElement } from './page.ts';
import { parseDeclarations, parseSheet } from './sheet.ts';

const RUN = new Set(['script', 'iframe', 'object', 'embed', 'applet', 'frame', 'frameset']);
const DROPPED = new Set([
  'form',
  'input',
  'button',
  'select',
  'textarea',
  'video',
  'audio',
  'canvas',
  'svg',
  'dialog',
  'base',
  'marquee',
]);
const STYLES_DROPPED = new Map([
  ['position', /^(?:absolute|fixed|sticky)$/i],
  ['float', /^(?:left|right)$/i],
  ['display', /^(?:inline-)?(?:flex|grid)$/i],
  ['animation', /./],
  ['behavior', /./],
  ['filter', /./],
]);

/** Checks for elements that mail clients remove or treat as an attack. */
export function checkHtml({ page }: CheckedEmail): EmailCheck {
  const tags = (names: Set<string>): string[] => [
    ...new Set(page.elements.filter(({ tag }) => names.has(tag)).map(({ tag }) => `<${tag}>`)),
  ];
  const handlers = page.elements.flatMap(({ tag, attributes }) =>
    [...attributes.keys()].filter((name) => /^on[a-z]/.test(name)).map((name) => `<${tag} ${name}>`),
  );
  const findings: CheckFinding[] = [
    ...findingsOf('error', 'The email contains scripts or frames, which filters reject. Remove them.', [
      ...tags(RUN),
      ...new Set(handlers),
    ]),
    ...findingsOf('error', 'The email redirects automatically. Remove the refresh.', refreshes(page)),
    ...findingsOf(
      'warning',
      'The email loads a style sheet, which email clients ignore. Put the rules into the email.',
      sheets(page),
    ),
    ...findingsOf(
      'warning',
      'Most email clients remove these elements. Use links, images and tables instead.',
      tags(DROPPED),
    ),
    ...findingsOf(
      'warning',
      'Many email clients do not support these styles. Use a layout without them.',
      styles(page),
    ),
  ];
  return checkResult('html', findings, 'Email clients support all of its HTML.');
}

function refreshes(page: EmailHtml): string[] {
  return page.elements
    .filter(({ tag, attributes }) => tag === 'meta' && /^refresh$/i.test(attributes.get('http-equiv') ?? ''))
    .map(({ attributes }) => attributes.get('content') ?? '');
}

function sheets(page: EmailHtml): string[] {
  const linked = page.elements
    .filter(({ tag, attributes }) => tag === 'link' && /\bstylesheet\b/i.test(attributes.get('rel') ?? ''))
    .map(({ attributes }) => attributes.get('href') ?? '');
  return parseSheet(page.css).imports ? [...linked, '@import'] : linked;
}

function styles(page: EmailHtml): string[] {
  const ofRules = parseSheet(page.css).rules.flatMap(({ declarations }) => declarations);
  const ofElements = page.elements.flatMap(styleOf);
  const dropped = [...ofRules, ...ofElements].filter(({ property, value }) =>
    STYLES_DROPPED.get(property)?.test(value),
  );
  return [...new Set(dropped.map(({ property, value }) => `${property}: ${value}`))];
}

function styleOf({ attributes }: PageElement): ReturnType<typeof parseDeclarations> {
  return parseDeclarations(attributes.get('style') ?? '');
}

const WORDS_MIN_CHARS = 100;
const CHARS_FOR_EACH = 60;

/** Half of all clients block images at first, so this checks whether the email works without them. */
export function checkImages({ page }: CheckedEmail): EmailCheck {
  const images = page.elements.filter(({ tag }) => tag === 'img').filter((image) => !isPixel(image));
  const sources = (test: (source: string) => boolean): string[] => [
    ...new Set(images.map((image) => attribute(image, 'src').trim()).filter(test)),
  ];
  const findings: CheckFinding[] = [
    ...findingsOf(
      'warning',
      'An image has no alt text. Describe it, or use alt="" for a decoration.',
      images.filter(({ attributes }) => !attributes.has('alt')).map((image) => attribute(image, 'src')),
    ),
    ...findingsOf(
      'warning',
      'An image is loaded without encryption, so many clients do not show it. Use https.',
      sources((source) => /^http:/i.test(source)),
    ),
    ...findingsOf(
      'warning',
      'An image is embedded in the email, and Gmail does not show embedded images. Host it and link to its address.',
      sources((source) => /^data:/i.test(source)),
    ),
    ...findingsOf(
      'error',
      'An image has no absolute URL. Start it with https://.',
      sources((source) => !/^(?:https?:|data:|cid:)/i.test(source)),
    ),
    ...mostlyImages(page, images.length),
  ];
  return checkResult(
    'images',
    findings,
    images.length === 0 ? 'The email has no images.' : 'All images have alt text and valid URLs.',
  );
}

/** Text that exists only in images is distrusted by filters and invisible to readers without images. */
function mostlyImages(page: EmailHtml, count: number): CheckFinding[] {
  const chars = page.text.length;
  if (count === 0 || (chars >= WORDS_MIN_CHARS && chars >= count * CHARS_FOR_EACH)) return [];
  const message = `The email is mostly images (${count}, with ${chars} characters of text). Describe its content in text.`;
  return [{ status: 'warning', message }];
}

function isPixel(image: PageElement): boolean {
  const tiny = /^[01](?:px)?$/;
  return tiny.test(attribute(image, 'width').trim()) && tiny.test(attribute(image, 'height').trim());
}
