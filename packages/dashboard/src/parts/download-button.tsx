import { Button } from '@mantine/core';
import { Download } from 'lucide-react';
import type { ReactNode } from 'react';

type Props = {
  /** Null: nothing to download yet. */
  href: string | null;
  children: ReactNode;
};

/** Downloads a file of the server. */
export function DownloadButton({ href, children }: Props): ReactNode {
  return (
    <Button
      {...(href === null ? { disabled: true } : { component: 'a' as const, href, download: true })}
      variant="default"
      leftSection={<Download size={15} aria-hidden="true" />}
    >
      {children}
    </Button>
  );
}
