import { Ajv, type ErrorObject } from 'ajv';
import type { TSchema } from 'typebox';
import type { FieldFault } from '../fault.ts';

/** Checked by our own functions, which are more precise than a pattern. Listed here so that Ajv accepts the schema. */
const FORMATS = { email: true, 'date-time': true } as const;
const OPTIONS = {
  formats: FORMATS,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
} as const;

export type Shape = { fits(value: unknown): boolean; faults(value: unknown): FieldFault[] };

/** Compiles two functions per schema: one that stops at the first error and builds no list, and one for the response. */
export function compileShape(schema: TSchema): Shape {
  const quick = new Ajv(OPTIONS).compile(schema);
  const whole = new Ajv({ ...OPTIONS, allErrors: true }).compile(schema);
  return {
    fits: (value) => quick(value) as boolean,
    faults: (value) => (whole(value) ? [] : (whole.errors ?? []).map(toFault)),
  };
}

function toFault(error: ErrorObject): FieldFault {
  const place = error.instancePath.split('/').slice(1).map(unescapePointer);
  if (error.keyword === 'required') place.push(String(error.params['missingProperty']));
  const field = place.join('.');
  return field === ''
    ? { message: 'The record must be an object' }
    : { message: `${field} ${sayWhat(error)}`, field };
}

function sayWhat(error: ErrorObject): string {
  const limit = String(error.params['limit']);
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${article(String(error.params['type']))}`;
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must not be longer than ${limit} characters`;
    default:
      return error.message ?? 'is not valid';
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
