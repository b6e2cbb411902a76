import type { FieldFault } from '../../platform/fault.ts';
import { refused, type TemplateSource } from '../rendering/index.ts';

/** The input of `template create` and `template update`. */
type Written = Partial<TemplateSource> & { name?: string };

const NAME_MAX_CHARS = 100;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KEYS = ['name', 'format', 'subject', 'preheader', 'body'] as const;
const FORMATS: readonly unknown[] = ['markdown', 'mjml'];

/** Reads a template part by part, or throws a fault with all errors. A part that was left out is missing in the result. */
export function readTemplate(document: unknown): Written {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw refused([{ message: `A template is an object with ${KEYS.join(', ')}` }]);
  const faults = Object.entries(document).flatMap(([key, value]) => faultsOf(key, value));
  if (faults.length > 0) throw refused(faults);
  const written = document as Written;
  return written.name === undefined ? written : { ...written, name: written.name.trim() };
}

/** Fills in parts that were left out, from the current template or with defaults. */
export function completed(written: Written, known: TemplateSource | null): TemplateSource {
  const { format, subject, preheader, body } = { ...known, ...written };
  if (subject === undefined || body === undefined) {
    throw refused([
      ...(subject === undefined ? [{ message: 'subject is required', field: 'subject' }] : []),
      ...(body === undefined ? [{ message: 'body is required', field: 'body' }] : []),
    ]);
  }
  return { format: format ?? 'markdown', subject, preheader: preheader ?? '', body };
}

function faultsOf(key: string, value: unknown): FieldFault[] {
  const known: readonly string[] = KEYS;
  if (!known.includes(key))
    return [{ message: `${key} is unknown here. Use ${KEYS.join(', ')}`, field: key }];
  if (key === 'format')
    return FORMATS.includes(value) ? [] : [{ message: 'format must be markdown or mjml', field: key }];
  if (typeof value !== 'string') return [{ message: `${key} must be a string`, field: key }];
  return key === 'name' ? nameFaults(value.trim()) : [];
}

/** Applies the same rules as names of emails in a rule. */
function nameFaults(name: string): FieldFault[] {
  const isFit =
    name.length >= 1 && name.length <= NAME_MAX_CHARS && name.isWellFormed() && !/\p{Cc}/u.test(name);
  if (!isFit) {
    const message = `name must be a string of 1 to ${NAME_MAX_CHARS} characters, without control characters`;
    return [{ message, field: 'name' }];
  }
  return ID.test(name) ? [{ message: 'name must not look like an id', field: 'name' }] : [];
}
