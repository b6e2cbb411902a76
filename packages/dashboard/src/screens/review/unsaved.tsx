import { Button } from '@mantine/core';
import { PenLine } from 'lucide-react';
import type { ReactNode } from 'react';
import { useKept } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';

/** The editor was closed with unsaved text. */
export function Unsaved({ draft, onGoOn }: { draft: string; onGoOn: () => void }): ReactNode {
  const [typed] = useKept<object | null>(keptAs(draft), null);
  if (typed === null) return null;
  return (
    <Notice icon={PenLine} title="You have unsaved changes">
      <Button size="compact-xs" variant="default" mt={4} onClick={onGoOn}>
        Continue editing
      </Button>
    </Notice>
  );
}

/** Unsaved text. It survives a reload. */
export type Typed = { subject: string; preheader: string; body: string };
/** The format of `useEdited`. */
export type Kept = { value: Typed; base: string };

export const PARTS = [
  ['subject', 'Subject'],
  ['preheader', 'Preview text'],
  ['body', 'Body'],
] as const;

/** The storage key of a draft's unsaved text. */
export function keptAs(draft: string): string {
  return `draft:${draft}`;
}
