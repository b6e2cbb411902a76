import {
  type EmailCheck,
  type CheckedEmail,
  excerpt,
  type CheckFinding,
  findingsOf,
  checkResult,
} from './check.ts';
import { contrastRatio, printColour, upon } from './color.ts';
import type { EmailHtml, PageElement } from './page.ts';
import { parseSheet } from './sheet.ts';
import { type Mode, type Style, styleOf } from './styles.ts';

/** WCAG 2.2, 1.4.3: the minimum contrast for normal text and for large text. */
const READABLE = 4.5;
const BARELY = 3;
const LARGE_PX = 24;
const LARGE_BOLD_PX = 18.66;
/** No team fixes more than this at once. */
const PAIRS_MAX = 20;

/** Checks whether text is readable on its background, also in dark mode if the email supports it. */
export function checkContrast({ page }: CheckedEmail): EmailCheck {
  const sheet = parseSheet(page.css);
  const knowsDark = sheet.knowsDark || hasDarkMeta(page);
  const whole = { ...sheet, hasDarkGround: sheet.hasDarkGround || hasDarkMeta(page) };
  const modes: Mode[] = knowsDark ? ['light', 'dark'] : ['light'];
  const findings = modes.flatMap((mode) => {
    const styles = styleOf(page, whole, mode);
    return styles === null ? [TANGLED] : findLowContrast(page, styles, mode);
  });
  return checkResult('contrast', findings, knowsDark ? WELL_IN_BOTH : WELL_IN_LIGHT);
}

const WELL_IN_BOTH = 'The text contrasts with its background in light and dark mode.';
const WELL_IN_LIGHT =
  'The text contrasts with its background. The email sets no dark mode colors, so clients choose their own.';
const TANGLED: CheckFinding = {
  status: 'warning',
  message: 'The style sheet is too complex to determine its colors. Simplify it.',
};

function hasDarkMeta(page: EmailHtml): boolean {
  return page.elements.some(
    ({ tag, attributes }) =>
      tag === 'meta' &&
      /^(?:supported-)?color-schemes?$/i.test(attributes.get('name') ?? '') &&
      /\bdark\b/i.test(attributes.get('content') ?? ''),
  );
}

type Pair = { ratio: number; line: string };

function findLowContrast(page: EmailHtml, styles: Map<PageElement, Style>, mode: Mode): CheckFinding[] {
  const pairs = new Map<string, Pair>();
  for (const element of page.elements) {
    const style = styles.get(element);
    if (!style || style.isHidden || style.ground === null || !isSeen(element)) continue;
    const colour = upon(style.colour, style.ground);
    const ratio = contrastRatio(colour, style.ground);
    if (ratio >= (isLarge(style) ? BARELY : READABLE)) continue;
    const key = `${printColour(colour)} on ${printColour(style.ground)}`;
    if (pairs.size >= PAIRS_MAX || pairs.has(key)) continue;
    const words = excerpt(element.text, 40);
    pairs.set(key, { ratio, line: `${mode}: ${key} is ${ratio.toFixed(1)}:1, “${words}”` });
  }
  const lines = [...pairs.values()].toSorted((a, b) => a.ratio - b.ratio);
  const [where, other] = mode === 'light' ? ['', 'darker or its background lighter'] : DARK_WORDS;
  const toLines = (group: Pair[]): string[] => group.map(({ line }) => line);
  return [
    ...findingsOf(
      'error',
      `Some text is almost unreadable${where}, with a contrast below ${BARELY}:1. Make it ${other}.`,
      toLines(lines.filter(({ ratio }) => ratio < BARELY)),
    ),
    ...findingsOf(
      'warning',
      `Some text is hard to read${where}, with a contrast below ${READABLE}:1. Make it ${other}.`,
      toLines(lines.filter(({ ratio }) => ratio >= BARELY)),
    ),
  ];
}

const DARK_WORDS = [' in dark mode', 'lighter there or its background darker'];

const UNSEEN = new Set(['style', 'script', 'title', 'head', 'template', 'noscript', 'option']);

/** Ignores text without visible characters, such as the padding that follows a preheader. */
function isSeen({ tag, text }: PageElement): boolean {
  return !UNSEEN.has(tag) && /[\p{L}\p{N}]/u.test(text);
}

function isLarge({ sizePx, isBold }: Style): boolean {
  return sizePx >= (isBold ? LARGE_BOLD_PX : LARGE_PX);
}
