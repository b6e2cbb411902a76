export { classifyReply, type ReplyVerdict } from './classify-reply.ts';
export { classifyReport, type Reported, type ReportVerdict } from './classify-report.ts';
export { normaliseReply } from './normalise-reply.ts';
export type { ReplyClass } from './refusal.ts';
export { replyText, type SmtpReply, type SmtpStage } from './reply.ts';
