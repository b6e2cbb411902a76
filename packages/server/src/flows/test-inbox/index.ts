export { clearTestInbox } from './clear-test-inbox.ts';
export { receiveMail } from './receive-mail.ts';
export { openMail, showMail, type ShownMail } from './show-mail.ts';
