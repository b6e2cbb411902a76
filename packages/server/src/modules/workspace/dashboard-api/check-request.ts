import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { Fault, type FieldFault } from '../../../platform/fault.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';

/** Validates a value against the shape of its route; a fault names each invalid field. */
export type RequestValidator = (value: unknown) => unknown;

const OPTIONS = { allErrors: true, strict: false, verbose: true } as const;
/** The values of a query are texts: numbers and booleans are parsed from text there, and nowhere else. */
const compileQuery = compilerOf(new Ajv({ ...OPTIONS, coerceTypes: true }));
const compileBody = compilerOf(new Ajv(OPTIONS));

export function checkQuery(schema: TSchema = EMPTY): RequestValidator {
  return (value) => {
    const checked = check(compileQuery(schema), value);
    for (const [field, text] of Object.entries(checked as Record<string, unknown>))
      if (typeof text === 'string' && text.includes('\0'))
        throw new Fault('validation_failed', {
          details: [{ field, message: `${field} contains a NUL character` }],
        });
    return checked;
  };
}

export function checkBody(schema: TSchema = EMPTY): RequestValidator {
  // A change without parameters may come without a body.
  return (value) => check(compileBody(schema), value ?? {});
}

/** Compiles each schema at its first request: those of all routes together take half a second of CPU time. */
function compilerOf(ajv: Ajv): (schema: TSchema) => ValidateFunction {
  const compiled = new WeakMap<TSchema, ValidateFunction>();
  return (schema) => {
    const validate = compiled.get(schema) ?? ajv.compile({ additionalProperties: false, ...schema });
    compiled.set(schema, validate);
    return validate;
  };
}

const EMPTY = { type: 'object', properties: {} };
const FAULTS_MAX = 20;

function check(validate: ValidateFunction, value: unknown): unknown {
  if (validate(value)) return value;
  const details = (validate.errors ?? []).slice(0, FAULTS_MAX).map(faultOf);
  throw new Fault('validation_failed', { details });
}

function faultOf(error: ErrorObject): FieldFault {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const named = [path, extraName(error)].filter((part) => part !== '').join('.');
  const field = named === '' ? 'body' : named;
  return { field, message: `${field} ${wordsOf(error)}` };
}

function extraName({ params }: ErrorObject): string {
  const named = params as { missingProperty?: string; additionalProperty?: string };
  return named.missingProperty ?? named.additionalProperty ?? '';
}

function wordsOf(error: ErrorObject): string {
  if (error.keyword === 'required') return 'is missing';
  if (error.keyword === 'additionalProperties') return 'is unknown here';
  if (error.keyword === 'enum' || error.keyword === 'const' || error.keyword === 'anyOf')
    return allowedOf(error) ?? 'is not an allowed value';
  return error.message ?? 'is not valid';
}

function allowedOf({ schema, params }: ErrorObject): string | null {
  const allowed = params as { allowedValue?: unknown; allowedValues?: unknown[] };
  const consts = Array.isArray(schema) ? schema.map((part: { const?: unknown }) => part.const) : [];
  const values =
    allowed.allowedValues ?? (allowed.allowedValue === undefined ? consts : [allowed.allowedValue]);
  const defined = values.filter((value) => value !== undefined);
  return defined.length > 0 ? `must be one of ${defined.map(String).join(', ')}` : null;
}

/** Parses a time from a path or a body, in milliseconds. */
export function readMoment(text: string, field: string): number {
  const at = parseInstant(text);
  if (!Number.isNaN(at)) return at;
  const message = `${field} must be a time such as 2026-01-31T14:30:00Z`;
  throw new Fault('validation_failed', { details: [{ message, field }] });
}
