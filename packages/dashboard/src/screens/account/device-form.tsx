import { Checkbox, Group, Stack, Text } from '@mantine/core';
import type { DeviceApproval, TokenScope } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { When } from '../../parts/index.ts';
import { FormError } from './form-error.tsx';
import { SCOPE_WORDS } from './scope-words.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

/** Shows which program asks for which scopes. The member may remove some. */
export function DeviceForm({ approval }: { approval: DeviceApproval }): ReactNode {
  const [scopes, setScopes] = useState<TokenScope[]>(approval.scopes);
  return (
    <Stack gap="md">
      <Text size="sm">
        A program requests access to your account. Approve it only if you started it yourself just now.
      </Text>
      <Text size="xl" fw={650} ff="monospace" ta="center">
        {approval.code}
      </Text>
      <Facts
        cols={1}
        facts={[
          { label: 'Name', value: approval.label },
          { label: 'Network address', value: approval.address },
          { label: 'Requested', value: <When at={approval.requested_at} style="relative" /> },
        ]}
      />
      <Scopes requestedScopes={approval.scopes} scopes={scopes} onChange={setScopes} />
      <Muted size="xs">
        Your role in each project is the limit, whatever you select here. The token expires after 90 days. You
        can revoke it in your profile at any time.
      </Muted>
      <Decide code={approval.code} scopes={scopes} />
    </Stack>
  );
}

type ScopesProps = {
  requestedScopes: TokenScope[];
  scopes: TokenScope[];
  onChange: (scopes: TokenScope[]) => void;
};

function Scopes({ requestedScopes, scopes, onChange }: ScopesProps): ReactNode {
  return (
    <Checkbox.Group
      label="Allow the program to"
      value={scopes}
      onChange={(chosen) => onChange(requestedScopes.filter((scope) => chosen.includes(scope)))}
    >
      <Stack gap="xs" mt="xs">
        {requestedScopes.map((scope) => (
          <Checkbox
            key={scope}
            value={scope}
            label={SCOPE_WORDS[scope].title}
            description={SCOPE_WORDS[scope].text}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

function Decide({ code, scopes }: { code: string; scopes: TokenScope[] }): ReactNode {
  const approve = useChange('POST /device/:code/approve', { refreshes: ['GET /device/:code'] });
  const deny = useChange('POST /device/:code/deny', { refreshes: ['GET /device/:code'] });
  const isBusy = approve.isPending || deny.isPending;
  return (
    <>
      <FormError error={approve.error ?? deny.error} />
      <Group>
        <ActButton
          change={approve}
          variant="filled"
          disabled={scopes.length === 0 || isBusy}
          onClick={() => approve.mutate({ params: { code }, body: { scopes } })}
        >
          Approve
        </ActButton>
        <ActButton change={deny} disabled={isBusy} onClick={() => deny.mutate({ params: { code } })}>
          Deny
        </ActButton>
      </Group>
    </>
  );
}
