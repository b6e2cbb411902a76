import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { MAIL_MAX_BYTES, type NewMail, packMail } from './mail.ts';
import { readSubject } from '../../sending/index.ts';
import { insertMail } from './store.ts';

/** The number of copies of one email that may arrive at the same time. */
const TRIES = 10;

/**
 * Stores an email as it arrived and returns the number of its copy. It parses only what the list shows, so that no content can prevent
 * storing it.
 */
export async function keepMail(tx: Tx, mail: NewMail): Promise<{ copy: number }> {
  const { raw, ...envelope } = mail;
  if (raw.length > MAIL_MAX_BYTES) throw tooLarge();
  const row = {
    ...envelope,
    subject: await readSubject(raw),
    packed: packMail(raw),
    size: raw.length,
  };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const copy = await insertMail(tx, row);
    if (copy !== undefined) return { copy };
  }
  throw new Error(`more than ${TRIES} copies of one email at one time`);
}

function tooLarge(): Fault {
  const message = `The test inbox keeps emails of up to ${MAIL_MAX_BYTES / 1_048_576} MB`;
  return new Fault('validation_failed', { details: [{ message, field: 'raw' }] });
}
