import { Button } from '@mantine/core';
import { PenLine } from 'lucide-react';
import type { ReactNode } from 'react';
import { useKept } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';

/** Somebody closed the editor, or left, with words in it that are not saved. */
export function Unsaved({ draft, onGoOn }: { draft: string; onGoOn: () => void }): ReactNode {
  const [typed] = useKept<object | null>(keptAs(draft), null);
  if (typed === null) return null;
  return (
    <Notice icon={PenLine} title="What you typed here is kept, and not saved">
      <Button size="compact-xs" variant="default" mt={4} onClick={onGoOn}>
        Go on writing
      </Button>
    </Notice>
  );
}

/** What was typed and not saved. It outlives a reload. */
export type Typed = { subject: string; preheader: string; body: string };
/** As `useEdited` keeps it. */
export type Kept = { value: Typed; base: string };

export const PARTS = [
  ['subject', 'Subject'],
  ['preheader', 'Preview line'],
  ['body', 'Letter'],
] as const;

/** Under which name unsaved words of a draft are kept in the tab. */
export function keptAs(draft: string): string {
  return `draft:${draft}`;
}
