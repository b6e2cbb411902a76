import { Button } from '@mantine/core';
import { Compass } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty, Page } from '../parts/index.ts';

export function NotFound(): ReactNode {
  return (
    <main id="content">
      <Page title="Page not found">
        <Empty
          icon={Compass}
          title="This page does not exist"
          action={
            <Button component="a" href="/" variant="default">
              Go to Home
            </Button>
          }
        >
          The link may be outdated, or belong to a project that you cannot access.
        </Empty>
      </Page>
    </main>
  );
}
