import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { LinkState } from '@beckon/contract/dashboard';
import { Unlink } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Empty, Loaded } from '../../parts/index.ts';

type LinkLoadedProps = { token: string; gone: string; children: (link: LinkState) => ReactNode };

/** What a link leads to, or what to do about one that leads nowhere any more. */
export function LinkLoaded({ token, gone, children }: LinkLoadedProps): ReactNode {
  const link = useApi('GET /links', { query: { token } }, { staleTimeMs: Infinity });
  if (link.error?.status === 404)
    return (
      <Empty
        icon={Unlink}
        title="This link does not work any more"
        action={
          <Button variant="default" renderRoot={(props) => <Link {...props} to="/sign-in" />}>
            Sign in
          </Button>
        }
      >
        It was used, has expired, or was replaced by a newer one. {gone}
      </Empty>
    );
  return <Loaded query={link}>{({ data }) => children(data)}</Loaded>;
}
