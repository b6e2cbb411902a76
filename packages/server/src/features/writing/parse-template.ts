import type { FieldFault } from '../../base/fault.ts';
import { refused, type TemplateSource } from './template.ts';

/** As `template create` and `template update` are given it. */
type Written = Partial<TemplateSource> & { name?: string };

const NAME_MAX_CHARS = 100;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KEYS = ['name', 'format', 'subject', 'preheader', 'body'] as const;
const FORMATS: readonly unknown[] = ['markdown', 'mjml'];

/** What somebody wrote, part by part, or a fault with all that is wrong with it. A part that is left out is not there. */
export function readTemplate(document: unknown): Written {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw refused([{ message: `A template is an object with ${KEYS.join(', ')}` }]);
  const faults = Object.entries(document).flatMap(([key, value]) => faultsOf(key, value));
  if (faults.length > 0) throw refused(faults);
  const written = document as Written;
  return written.name === undefined ? written : { ...written, name: written.name.trim() };
}

/** With what was left out: what is known of it already, or what it is where nobody says. */
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

/** As rules read the names of letters. */
function nameFaults(name: string): FieldFault[] {
  const isFit =
    name.length >= 1 && name.length <= NAME_MAX_CHARS && name.isWellFormed() && !/\p{Cc}/u.test(name);
  if (!isFit) {
    const message = `name must be a string of 1 to ${NAME_MAX_CHARS} characters, without control characters`;
    return [{ message, field: 'name' }];
  }
  return ID.test(name) ? [{ message: 'name must not look like an id', field: 'name' }] : [];
}
