import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { LinkState } from '@beckon/contract/dashboard';
import { Unlink } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Empty, Loaded } from '../../parts/index.ts';

type LinkLoadedProps = { token: string; gone: string; children: (link: LinkState) => ReactNode };

/** The target of a link, or what to do about an expired one. */
export function LinkLoaded({ token, gone, children }: LinkLoadedProps): ReactNode {
  const link = useApi('GET /links', { query: { token } }, { staleTimeMs: Infinity });
  if (link.error?.status === 404)
    return (
      <Empty
        icon={Unlink}
        title="This link is no longer valid"
        action={
          <Button variant="default" renderRoot={(props) => <Link {...props} to="/sign-in" />}>
            Sign in
          </Button>
        }
      >
        It was used, expired, or was replaced by a newer link. {gone}
      </Empty>
    );
  return <Loaded query={link}>{({ data }) => children(data)}</Loaded>;
}
