export { clearOutbox } from './clear-outbox.ts';
export { receiveMail } from './receive-mail.ts';
export { openMail, showMail, type ShownMail } from './show-mail.ts';
