import type { Piece } from './document.ts';

export const UNITS = [
  { value: 's', label: 'seconds' },
  { value: 'm', label: 'minutes' },
  { value: 'h', label: 'hours' },
  { value: 'd', label: 'days' },
];

/** Parses `3d`; an invalid value gets the most common unit. */
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

/** The operator of a filter and its operand. */
export function testOf(test: Piece): { operator: string; value: unknown } {
  const operator = OPERATORS.find(({ value }) => value in test)?.value ?? 'equals';
  return { operator, value: test[operator] };
}

/** A new operator parses the operand again: `5` is a number for one and text for another. */
export function withTest(test: Piece, operator: string, value: unknown): Piece {
  const rest = Object.fromEntries(
    Object.entries(test).filter(([key]) => !OPERATORS.some((entry) => entry.value === key)),
  );
  return { ...rest, [operator]: readValue(operator, printValue(value)) };
}

/**
 * Parses typed text as the operand. `is` reads numbers and booleans, and quoted input as
 * text. Text that should be a number stays, and the server reports the error.
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

/** Only if it prints as typed: `1.` is still being typed, and `007` is text. */
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
