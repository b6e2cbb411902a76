import { Alert, Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { EmailSource, TemplateDetails } from '@beckon/contract/dashboard';
import { useApi, useMay } from '../../api/index.ts';
import { later, Loaded, Page, When } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { EmailEditor } from './email-editor.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';
import { Muted } from '../../parts/muted.tsx';

const TemplateActions = later(() => import('./template-actions.tsx'), 'TemplateActions', null);
const TemplateVersions = later(() => import('./versions.tsx'), 'TemplateVersions');

const route = getRouteApi('/p/$project/templates/$template');

export function TemplateScreen(): ReactNode {
  const { template: name } = route.useParams();
  const { tab } = route.useSearch();
  const isNew = tab === 'new';
  const template = useApi(
    'GET /projects/:project/templates/:template',
    { params: { template: name } },
    { enabled: !isNew },
  );
  const details = isNew ? begun(name) : template.data?.data;
  return (
    <Page title={details?.name ?? name} actions={details && !isNew && <TemplateActions template={details} />}>
      {isNew ? (
        <EmailEditor key={name} template={begun(name)} isNew />
      ) : (
        <Loaded query={template}>{({ data }) => <TemplateView template={data} />}</Loaded>
      )}
    </Page>
  );
}

const FIRST: EmailSource = {
  format: 'markdown',
  subject: '',
  preheader: '',
  body: 'Hi {{ user.name | default: "there" }},\n\n',
};

/** A new template with only a name. */
function begun(name: string): TemplateDetails {
  return {
    name,
    version: null,
    is_shipped: false,
    format: 'markdown',
    subject: '',
    used_by: [],
    has_unpublished: false,
    updated_at: null,
    published: FIRST,
    unpublished: null,
    versions: [],
    variables: [],
    users: 0,
    other_variables: [],
    open_untouched: 0,
  };
}

function TemplateView({ template }: { template: TemplateDetails }): ReactNode {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <State template={template} />
      <TabPages
        value={tab}
        onChange={(next) => void navigate({ search: (was) => ({ ...was, tab: next }), replace: true })}
        pages={[
          {
            value: 'email',
            label: 'Template',
            content: <EmailEditor key={template.name} template={template} />,
          },
          {
            value: 'versions',
            label: `Versions (${template.versions.length})`,
            content: <TemplateVersions template={template} />,
          },
        ]}
      />
    </>
  );
}

function State({ template }: { template: TemplateDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const { unpublished, used_by: users, is_shipped: isShipped, version } = template;
  return (
    <>
      {version === null && isShipped && (
        <Alert color="gray" mb="md" title="Built-in template">
          {mayEdit ? 'Edit and publish it to replace it in every rule that uses it.' : 'It is unchanged.'}
        </Alert>
      )}
      {unpublished && (
        <Alert mb="md" title="Unpublished version">
          Saved by {unpublished.saved_by}, <When at={unpublished.saved_at} style="relative" />. Users get the
          published version until you publish this one.
        </Alert>
      )}
      <Group gap="xs" mb="sm">
        <Muted>{users.length === 0 ? 'Not used by any rule.' : 'Used by'}</Muted>
        {users.map(({ id: rule, name }) => (
          <LinkButton key={rule} size="compact-xs" to="/p/$project/rules/$rule" params={{ rule }}>
            {name}
          </LinkButton>
        ))}
      </Group>
    </>
  );
}
