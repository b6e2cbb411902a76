export type { Check } from './check.ts';
export { type CheckedMail, checkMail } from './checks.ts';
export {
  type KeptMail,
  type NewMail,
  MAIL_MAX_BYTES,
  TEST_INBOX_KEPT_MAX,
  TEST_INBOX_KEPT_MS,
} from './mail.ts';
export { type ReadMail, readMail } from './read-mail.ts';
export { withoutPixel } from './tracked.ts';
export { redactTokens } from './redact.ts';
export { keepMail } from './keep-mail.ts';
export { countMail, findMail, listMail, listWholeMailOf, type WholeMail } from './reads.ts';
export { deleteMailBefore, deleteMailBeyond, deleteMailOf as eraseMail } from './store.ts';
