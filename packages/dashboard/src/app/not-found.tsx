import { Button } from '@mantine/core';
import { Compass } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty, Page } from '../parts/index.ts';

export function NotFound(): ReactNode {
  return (
    <Page title="Not found">
      <Empty
        icon={Compass}
        title="There is nothing at this address"
        action={
          <Button component="a" href="/" variant="default">
            Go to the start
          </Button>
        }
      >
        The link may be old, or belong to a project that you are not a member of.
      </Empty>
    </Page>
  );
}
