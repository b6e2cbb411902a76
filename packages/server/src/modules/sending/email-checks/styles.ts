import { BLACK, type Colour, parseColour, upon, WHITE } from './color.ts';
import { attribute, type EmailHtml, type PageElement } from './page.ts';
import { type Compound, type Declaration, parseDeclarations, type Sheet, type SheetRule } from './sheet.ts';

/** The appearance of an element, as far as it matters for reading. `ground` is null over a picture, because its colors are unknown. */
export type Style = {
  colour: Colour;
  ground: Colour | null;
  isHidden: boolean;
  sizePx: number;
  isBold: boolean;
};

export type Mode = 'light' | 'dark';

/** The background of a client in dark mode if the email sets none. Clients use it only for emails that declare support for dark mode. */
const DARK_GROUND: Colour = { mode: 'rgb', r: 18 / 255, g: 18 / 255, b: 18 / 255, alpha: 1 };
const LINK: Record<Mode, Colour> = {
  light: { mode: 'rgb', r: 0, g: 0, b: 238 / 255, alpha: 1 },
  dark: { mode: 'rgb', r: 158 / 255, g: 158 / 255, b: 1, alpha: 1 },
};

/** The maximum number of matches of a rule against an element. A real email needs about ten thousand. */
const EFFORT_MAX = 500_000;

/**
 * Returns the style of each element by the simple rules of the sheet and its inline style. Null if the sheet is too complex to evaluate in
 * reasonable time.
 */
export function styleOf(page: EmailHtml, sheet: Sheet, mode: Mode): Map<PageElement, Style> | null {
  const rules = indexRules(sheet.rules.filter((rule) => mode === 'dark' || !rule.isDark));
  const isDarkGround = mode === 'dark' && sheet.hasDarkGround;
  const canvas: Style = {
    colour: isDarkGround ? WHITE : BLACK,
    ground: isDarkGround ? DARK_GROUND : WHITE,
    isHidden: false,
    sizePx: 16,
    isBold: false,
  };
  const link = LINK[isDarkGround ? 'dark' : 'light'];
  const effort = { remaining: EFFORT_MAX };
  const styles = new Map<PageElement, Style>();
  for (const element of page.elements) {
    const parent = (element.parent && styles.get(element.parent)) ?? canvas;
    styles.set(element, apply(element, { rules, parent, link, effort }));
    if (effort.remaining < 0) return null;
  }
  return styles;
}

type Weighed = Declaration & { weight: number };
type Values = Map<string, Weighed>;
type Surroundings = { rules: RuleIndex; parent: Style; link: Colour; effort: { remaining: number } };

function apply(element: PageElement, around: Surroundings): Style {
  const { parent, link } = around;
  const values = valuesOf(element, around);
  const value = (property: string): string => values.get(property)?.value ?? '';
  const isLink = element.tag === 'a' && element.attributes.has('href');
  const elementColour = parseColour(value('color') || oldColour(element));
  const ground = groundOf(element, { values, parent });
  const sizePx = sizeOf(value('font-size'), parent.sizePx);
  const colour = elementColour ?? (isLink && value('color') === '' ? link : parent.colour);
  return {
    colour,
    ground,
    isHidden: parent.isHidden || isHidden(value, sizePx),
    sizePx,
    isBold: isBold(element, value('font-weight'), parent),
  };
}

function oldColour(element: PageElement): string {
  if (element.tag === 'font') return attribute(element, 'color');
  return element.tag === 'body' ? attribute(element, 'text') : '';
}

/** A picture hides any background color. */
function groundOf(
  element: PageElement,
  { values, parent }: { values: Values; parent: Style },
): Colour | null {
  const text = groundText(values) ?? attribute(element, 'bgcolor');
  const image = `${values.get('background-image')?.value ?? ''} ${text}`;
  if (/url\(|gradient\(/i.test(image) || attribute(element, 'background') !== '') return null;
  const colour = firstColour(text);
  if (!colour || colour.alpha === 0) return parent.ground;
  if (colour.alpha === 1) return colour;
  return parent.ground && upon(colour, parent.ground);
}

/** Returns the background color or the whole background, whichever takes precedence. */
function groundText(values: Values): string | undefined {
  const [plain, whole] = [values.get('background-color'), values.get('background')];
  if (!plain || !whole) return (plain ?? whole)?.value;
  return (plain.weight > whole.weight ? plain : whole).value;
}

/** Returns the color in `#fff no-repeat center`, and all of `rgb(1, 2, 3)`. */
function firstColour(text: string): Colour | undefined {
  const whole = parseColour(text);
  if (whole || text.length > VALUE_MAX_CHARS) return whole;
  const words = text.match(/[a-z]+\([^)]*\)|[^\s()]+/gi) ?? [];
  return words.map(parseColour).find((colour) => colour !== undefined);
}

const VALUE_MAX_CHARS = 300;

function isHidden(value: (property: string) => string, sizePx: number): boolean {
  const is = (property: string, hidden: RegExp): boolean => hidden.test(value(property));
  const isCollapsed = is('max-height', /^0/) || is('height', /^0(?:px)?$/);
  return (
    is('display', /^none$/i) ||
    is('visibility', /^(?:hidden|collapse)$/i) ||
    is('opacity', /^(?:0|0?\.0+|0%)$/) ||
    is('mso-hide', /^all$/i) ||
    (isCollapsed && is('overflow', /^(?:hidden|clip)$/i)) ||
    sizePx <= 1
  );
}

const LARGER = new Map([
  ['xx-small', 9],
  ['x-small', 10],
  ['small', 13],
  ['medium', 16],
  ['large', 18],
  ['x-large', 24],
  ['xx-large', 32],
]);

function sizeOf(text: string, parentPx: number): number {
  const [, number = '', unit = ''] = /^([\d.]{1,8})(px|pt|em|rem|%)?$/i.exec(text) ?? [];
  if (number === '') return LARGER.get(text.toLowerCase()) ?? parentPx;
  const value = Number(number);
  if (!Number.isFinite(value)) return parentPx;
  switch (unit.toLowerCase()) {
    case 'pt':
      return (value * 4) / 3;
    case 'em':
      return value * parentPx;
    case 'rem':
      return value * 16;
    case '%':
      return (value / 100) * parentPx;
    default:
      return value;
  }
}

function isBold(element: PageElement, weight: string, parent: Style): boolean {
  if (weight === '') return parent.isBold || /^(?:b|strong|th|h[1-6])$/.test(element.tag);
  return /^(?:bold|bolder)$/i.test(weight) || Number(weight) >= 600;
}

/** Indexes rules by their last selector. An element without this id, class or tag cannot match. */
type RuleIndex = Map<string, { rule: SheetRule; order: number }[]>;

function indexRules(rules: SheetRule[]): RuleIndex {
  const index: RuleIndex = new Map();
  for (const [order, rule] of rules.entries()) {
    const last = rule.path.at(-1);
    if (!last) continue;
    const key =
      last.id !== null ? `#${last.id}` : last.classes[0] ? `.${last.classes[0]}` : (last.tag ?? '*');
    const existing = index.get(key);
    if (existing) existing.push({ rule, order });
    else index.set(key, [{ rule, order }]);
  }
  return index;
}

/** Inline styles outrank everything in the sheet, which has fewer rules than `ORDERS`. The same applies among important declarations. */
const ORDERS = 10_000;
const INLINE = 1e9;
const IMPORTANT = 1e12;
const READ = new Set([
  'color',
  'background',
  'background-color',
  'background-image',
  'display',
  'visibility',
  'opacity',
  'mso-hide',
  'max-height',
  'height',
  'overflow',
  'font-size',
  'font-weight',
]);

function valuesOf(element: PageElement, { rules, effort }: Pick<Surroundings, 'rules' | 'effort'>): Values {
  const values: Values = new Map();
  const classes = new Set(element.classes.map((name) => `.${name}`));
  const keys = [element.tag, '*', `#${attribute(element, 'id')}`, ...classes];
  for (const { rule, order } of keys.flatMap((key) => rules.get(key) ?? [])) {
    if (!isMeant(rule.path, { element, effort })) continue;
    keepHeaviest(values, rule.declarations, rule.specificity * ORDERS + order);
  }
  keepHeaviest(values, parseDeclarations(attribute(element, 'style')), INLINE);
  return values;
}

function keepHeaviest(values: Values, declarations: Declaration[], base: number): void {
  for (const [at, declaration] of declarations.entries()) {
    if (!READ.has(declaration.property)) continue;
    const weight = base + at / 100 + (declaration.isImportant ? IMPORTANT : 0);
    const existing = values.get(declaration.property);
    if (!existing || existing.weight <= weight) values.set(declaration.property, { ...declaration, weight });
  }
}

function isMeant(
  path: Compound[],
  { element, effort }: { element: PageElement; effort: { remaining: number } },
): boolean {
  const [last, ...outer] = path.toReversed();
  effort.remaining -= 1;
  if (!last || !fits(last, element)) return false;
  let ancestor = element.parent;
  for (const compound of outer) {
    while (ancestor && !fits(compound, ancestor)) {
      effort.remaining -= 1;
      ancestor = ancestor.parent;
    }
    if (!ancestor) return false;
    ancestor = ancestor.parent;
  }
  return true;
}

function fits({ tag, id, classes }: Compound, element: PageElement): boolean {
  if (tag !== null && tag !== element.tag) return false;
  if (id !== null && id !== attribute(element, 'id')) return false;
  return classes.every((name) => element.classes.includes(name));
}
