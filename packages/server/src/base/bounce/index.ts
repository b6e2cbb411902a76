export { classifyReply, type ReplyClass, type ReplyVerdict } from './classify-reply.ts';
export { normaliseReply } from './normalise-reply.ts';
export type { SmtpReply, SmtpStage } from './reply.ts';
