import { ActionIcon, CopyButton } from '@mantine/core';
import { Check, Copy as CopyIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Tip } from './tip.tsx';

/** Copies a text to the clipboard. `what` names it for screen readers: "key", "command". */
export function Copy({ text, what }: { text: string; what: string }): ReactNode {
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Tip label={copied ? 'Copied' : `Copy ${what}`}>
          <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={`Copy ${what}`}>
            {copied ? <Check size={14} aria-hidden="true" /> : <CopyIcon size={14} aria-hidden="true" />}
            <span className="beckon-visually-hidden" aria-live="polite">
              {copied ? 'Copied' : ''}
            </span>
          </ActionIcon>
        </Tip>
      )}
    </CopyButton>
  );
}
