/** What is stored of a letter. All three parts are Liquid; `body` is Markdown or HTML besides. */
export type LetterText = { subject: string; preheader: string; body: string; format: 'markdown' | 'html' };
export type LetterPart = 'subject' | 'preheader' | 'body';
export const LETTER_PARTS = ['subject', 'preheader', 'body'] as const satisfies LetterPart[];
