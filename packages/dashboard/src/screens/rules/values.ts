import type { Piece } from './document.ts';

export const UNITS = [
  { value: 's', label: 'seconds' },
  { value: 'm', label: 'minutes' },
  { value: 'h', label: 'hours' },
  { value: 'd', label: 'days' },
];

/** `3d` as its two parts; what is none keeps the unit that people mean most. */
export function readSpan(span: string): { count: number | null; unit: string } {
  const parts = /^(\d+)([smhd])$/.exec(span);
  return parts ? { count: Number(parts[1]), unit: parts[2] ?? 'd' } : { count: null, unit: 'd' };
}

export const OPERATORS = [
  { value: 'equals', label: 'is' },
  { value: 'one_of', label: 'is one of' },
  { value: 'contains', label: 'contains' },
  { value: 'starts_with', label: 'starts with' },
  { value: 'ends_with', label: 'ends with' },
  { value: 'includes', label: 'includes' },
  { value: 'at_least', label: 'is at least' },
  { value: 'at_most', label: 'is at most' },
  { value: 'greater_than', label: 'is more than' },
  { value: 'less_than', label: 'is less than' },
  { value: 'before', label: 'is before' },
  { value: 'after', label: 'is after' },
  { value: 'is_set', label: 'is set' },
];

const NUMBERS: ReadonlySet<string> = new Set(['at_least', 'at_most', 'greater_than', 'less_than']);

/** The operator of a test, and what it compares with. */
export function testOf(test: Piece): { operator: string; value: unknown } {
  const known = OPERATORS.find(({ value }) => value in test)?.value ?? 'equals';
  return { operator: known, value: test[known] };
}

/** Under another operator what was written is read anew: `5` is a number to one and a text to another. */
export function withTest(test: Piece, operator: string, value: unknown): Piece {
  const rest = Object.fromEntries(
    Object.entries(test).filter(([key]) => !OPERATORS.some((one) => one.value === key)),
  );
  return { ...rest, [operator]: readValue(operator, printValue(value)) };
}

/**
 * What is written as the value that the operator compares. `is` takes numbers and truths as such, and what stands in quotes as
 * a text; where a number is needed and none is written the text stays, and the server says what is wrong.
 */
export function readValue(operator: string, text: string): unknown {
  if (operator === 'is_set') return true;
  if (operator === 'one_of') {
    const parts = text.split(',').map((part) => part.trim());
    return parts.filter((part) => part !== '').map(scalar);
  }
  if (NUMBERS.has(operator)) return isNumber(text) ? Number(text) : text;
  return operator === 'equals' || operator === 'includes' ? scalar(text) : text;
}

function scalar(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (isNumber(text)) return Number(text);
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text;
}

/** Only what is printed as it was written: `1.` and `007` are still being typed, or are texts. */
function isNumber(text: string): boolean {
  return text !== '' && Number.isFinite(Number(text)) && String(Number(text)) === text;
}

export function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(printScalar).join(', ');
  return printScalar(value);
}

function printScalar(value: unknown): string {
  if (typeof value === 'string')
    return isNumber(value) || value === 'true' || value === 'false' ? `"${value}"` : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
