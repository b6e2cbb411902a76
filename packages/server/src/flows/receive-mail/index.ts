export { LOOP_HEADER } from './decide-mail.ts';
export { type ArrivedMail, type ReceiveDeps, receiveMail } from './receive-mail.ts';
export { readRecipient } from './recipient.ts';
