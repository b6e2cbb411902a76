/** An email as stored. All three parts are Liquid, and `body` is also Markdown or HTML. */
export type LetterText = { subject: string; preheader: string; body: string; format: 'markdown' | 'html' };
export type LetterPart = 'subject' | 'preheader' | 'body';
export const LETTER_PARTS = ['subject', 'preheader', 'body'] as const satisfies LetterPart[];
