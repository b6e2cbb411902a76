import type { FieldFault } from '../../platform/fault.ts';
import { checkLetter } from './check-email.ts';
import { compileLetter } from './compile-email.ts';
import { refused, type TemplateSource } from './template.ts';

/** An email that can be rendered, with the output of its MJML. Otherwise a fault with all errors is thrown. */
export type Publishable = TemplateSource & { html: string | null };

/** Call it before taking the project lock, because compiling takes a while. */
export async function publishable(source: TemplateSource): Promise<Publishable> {
  const { format, ...text } = source;
  const faults = checkLetter({ ...text, format: format === 'mjml' ? 'html' : 'markdown' });
  if (faults.length > 0) throw refused(faults.map(withField));
  if (format === 'markdown') return { ...source, html: null };
  const compiled = await compileLetter(text.body);
  if ('html' in compiled) return { ...source, html: compiled.html };
  throw refused(compiled.flaws.map((message) => ({ message: `body: ${message}`, field: 'body' })));
}

function withField({ message, field }: FieldFault): FieldFault {
  return field === undefined || message.startsWith(`the ${field} `)
    ? { message, ...(field === undefined ? {} : { field }) }
    : { message: `${field}: ${message}`, field };
}
