export { authorNameOf } from './author.ts';
export { isOnlyTitledAuto } from './auto-reply.ts';
export { classifyMail } from './classify-mail.ts';
export type { InboundMail, MailHeader, MailPart } from './mail.ts';
export { MAIL_BYTES_MAX, readMail } from './read-mail.ts';
export { replyText, snippetOf } from './reply-text.ts';
export type { MailEnvelope, MailKind, MailRecipient, MailVerdict, RecipientClass } from './verdict.ts';
