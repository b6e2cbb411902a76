/** What is stored of a letter. All three are Liquid; `body` is Markdown besides. */
export type LetterText = { subject: string; preheader: string; body: string };
export type LetterPart = keyof LetterText;
export const LETTER_PARTS = ['subject', 'preheader', 'body'] as const satisfies LetterPart[];
