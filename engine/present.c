/* A page's digest as lines, and two of them beside each other.
 *
 * A line is what stands alone for a reader: a block of text, a row of a table with its cells,
 * an image by its address.
 */
#include "engine/present.h"
#include "page/page.h"

/* ---- where a node stands ---- */

static uint32_t *parents_of(const struct page_digest *d, struct arena *life)
{
    uint32_t *parent = arena_array_of(life, d->nodes + 1, uint32_t);
    uint32_t *left = arena_array_of(life, d->nodes + 1, uint32_t);
    uint32_t *open = arena_array_of(life, d->nodes + 1, uint32_t), depth = 0;
    for (uint32_t i = 0; i < d->nodes; i++) {
        while (depth && left[open[depth - 1]] == 0)
            depth--;
        parent[i] = depth ? open[depth - 1] : i;
        if (depth)
            left[open[depth - 1]]--;
        left[i] = d->children[i];
        open[depth++] = i;
    }
    return parent;
}

static bool is_named(const struct page_digest *d, uint32_t node, const char *a, const char *b)
{
    struct str name = page_tag_name(d, d->tags[node]);
    return str_equal_nocase(name, str_of(a)) || str_equal_nocase(name, str_of(b));
}

/* The nearest element of this name around the node; d->nodes: there is none. */
static uint32_t around(const struct page_digest *d, const uint32_t *parent, uint32_t node,
        const char *a, const char *b)
{
    for (;;) {
        if (is_named(d, node, a, b))
            return node;
        if (parent[node] == node)
            return d->nodes;
        node = parent[node];
    }
}

/* ---- lines ---- */

static const char *attribute(const struct page_digest *d, uint32_t node, const char *name)
{
    for (uint32_t i = d->attr_at[node]; i < d->attr_at[node + 1]; i++)
        if (str_equal_nocase(page_attr_name(d, i), str_of(name)))
            return page_attr_value(d, i).ptr;
    return NULL;
}

struct lines {
    struct arena *life;
    const struct page_digest *d;
    const uint32_t *parent;
    struct notify_line *at;
    size_t n;
    /* the row being filled; its node is d->nodes while there is none */
    struct buf row;
    uint32_t row_node, cell_node;
    bool has_text, is_head;
};

static void add(struct lines *l, enum notify_shape shape, const char *text)
{
    l->at[l->n++] = (struct notify_line){.shape = shape, .now = arena_strdup(l->life, text)};
}

static void end_row(struct lines *l)
{
    if (l->row_node != l->d->nodes && l->has_text)
        add(l, l->is_head ? NOTIFY_HEAD : NOTIFY_ROW, buf_text(&l->row));
    l->row_node = l->cell_node = l->d->nodes;
    buf_clear(&l->row);
}

/* A cell may be empty: its neighbours keep their columns. */
static void begin_cell(struct lines *l, uint32_t row, uint32_t cell)
{
    if (row != l->row_node) {
        end_row(l);
        l->row_node = row;
        l->has_text = false;
        l->is_head = true;
    } else {
        buf_putc(&l->row, '\t');
    }
    l->cell_node = cell;
    l->is_head = l->is_head && is_named(l->d, cell, "th", "th");
}

static void add_block(struct lines *l, const struct page_block *b)
{
    uint32_t row = around(l->d, l->parent, b->node, "tr", "tr");
    if (row == l->d->nodes) {
        end_row(l);
        add(l, NOTIFY_TEXT, arena_strndup(l->life, b->text.ptr, b->text.len));
        return;
    }
    uint32_t cell = around(l->d, l->parent, b->node, "td", "th");
    if (row != l->row_node || cell != l->cell_node)
        begin_cell(l, row, cell != l->d->nodes ? cell : row); /* text outside of any cell */
    if (l->row.len && l->row.data[l->row.len - 1] != '\t')
        buf_putc(&l->row, ' ');
    buf_append(&l->row, b->text.ptr, b->text.len);
    l->has_text = true;
}

static void add_image(struct lines *l, uint32_t node)
{
    const char *src = attribute(l->d, node, "src");
    BUF(url, 1 << 20);
    if (!src)
        return;
    end_row(l);
    if (page_url_resolve(page_base(l->d), str_of(src), &url))
        add(l, NOTIFY_IMAGE, buf_text(&url));
    else
        add(l, NOTIFY_IMAGE, src);
}

size_t present_lines(
        struct arena *life, const void *digest, size_t bytes, struct notify_line **ret_lines)
{
    struct page_digest *d;
    struct page_block *blocks;
    if (page_digest_open(life, digest, bytes, NULL, &d) != OK)
        return 0;
    size_t nblocks = page_blocks(d, life, &blocks), b = 0;
    struct lines l = {.life = life,
            .d = d,
            .parent = parents_of(d, life),
            .at = arena_array_of(life, nblocks + d->nodes + 1, struct notify_line),
            .row_node = d->nodes,
            .cell_node = d->nodes};
    buf_init(&l.row, PAGE_DIGEST_MAX);
    for (uint32_t i = 0; i < d->nodes; i++) {
        if (is_named(d, i, "td", "th")) {
            uint32_t row = around(d, l.parent, i, "tr", "tr");
            if (row != d->nodes)
                begin_cell(&l, row, i);
        }
        if (b < nblocks && blocks[b].node == i)
            add_block(&l, &blocks[b++]);
        if (is_named(d, i, "img", "image"))
            add_image(&l, i);
    }
    end_row(&l);
    buf_done(&l.row);
    *ret_lines = l.at;
    return l.n;
}

/* ---- two versions ---- */

static bool load(struct arena *life, struct store *s, int64_t page_id, int64_t version,
        struct notify_line **ret_lines, size_t *ret_n)
{
    struct store_load_job job = {
            .job.kind = STORE_JOB_LOAD, .page_id = page_id, .version = version};
    struct fault f = {0};
    buf_init(&job.digest, PAGE_DIGEST_MAX);
    buf_init(&job.body, 1); /* not asked for */
    bool found = store_run(s, &job.job, &f) == OK && job.found && job.digest.len;
    if (found) {
        /* Lines borrow nothing from the digest, but opening it wants it aligned and whole. */
        void *block = arena_memdup(life, job.digest.data, job.digest.len);
        *ret_n = present_lines(life, block, job.digest.len, ret_lines);
    }
    buf_done(&job.digest);
    buf_done(&job.body);
    return found;
}

static bool is_about_attribute(const struct notify_line *l)
{
    return l->path && strstr(l->path, "/@");
}

/* What a reader's text does not show: attributes, such as where a link leads. */
static void add_attributes(
        struct arena *life, const struct notify_item *from, struct notify_part *to)
{
    size_t most = 0;
    for (size_t i = 0; i < from->nparts; i++)
        most += from->parts[i].nlines;
    to->type = "attributes";
    to->lines = arena_array_of(life, most + 1, struct notify_line);
    for (size_t i = 0; i < from->nparts; i++)
        for (size_t k = 0; k < from->parts[i].nlines; k++)
            if (is_about_attribute(&from->parts[i].lines[k]))
                to->lines[to->nlines++] = from->parts[i].lines[k];
}

/* ---- only what changed, where it stands ---- */

/* Types that list pieces of text; the page shows them in their order, and cells in their rows.
 */
static bool is_of_text(const struct notify_part *part)
{
    static const char *const types[] = {"any change", "content", "table"};
    for (size_t i = 0; i < countof(types); i++)
        if (strcmp(part->type, types[i]) == 0)
            return true;
    return false;
}

/* The words of a row without its cells: how a row that came or went is listed. */
static const char *words_of(struct arena *life, const char *row)
{
    BUF(words, 1 << 20);
    for (struct str left = str_of(row); left.len;) {
        size_t cell = strcspn(left.ptr, "\t");
        if (cell)
            buf_printf(&words, "%s%.*s", words.len ? " " : "", (int)cell, left.ptr);
        cell += left.ptr[cell] == '\t';
        left = (struct str){left.ptr + cell, left.len - cell};
    }
    return arena_strdup(life, buf_text(&words));
}

/* One of the cells, or several words in one: a cell may hold more than one block. */
static bool is_piece(const char *piece, const char *text)
{
    size_t len = strlen(piece);
    for (const char *at = text; len && (at = strstr(at, piece)); at++) {
        bool begins = at == text || at[-1] == '\t', ends = !at[len] || at[len] == '\t';
        bool apart = (begins || at[-1] == ' ') && (ends || at[len] == ' ');
        if ((begins && ends) || (apart && strchr(piece, ' ')))
            return true;
    }
    return false;
}

static bool is_listed(struct arena *life, const struct notify_part *lists, const char *text)
{
    const char *words = text ? words_of(life, text) : NULL;
    for (size_t i = 0; text && i < lists->nlines; i++) {
        const char *pieces[] = {lists->lines[i].old, lists->lines[i].now};
        for (size_t k = 0; k < countof(pieces); k++)
            if (pieces[k] && (is_piece(pieces[k], text) || strcmp(pieces[k], words) == 0))
                return true;
    }
    return false;
}

/* Takes those changed lines of the page that the lists speak of, and what names their columns;
 * the rest of the lists, such as attributes, follows as it is. */
static void show_where(
        struct arena *life, struct notify_part *lists, const struct notify_part *page)
{
    struct notify_line *lines =
            arena_array_of(life, page->nlines + lists->nlines + 1, struct notify_line);
    const struct notify_line *head = NULL;
    size_t n = 0;
    for (size_t i = 0; i < page->nlines; i++) {
        const struct notify_line *l = &page->lines[i];
        bool changed = l->mark != NOTIFY_SAME;
        if (l->shape == NOTIFY_HEAD)
            head = changed ? NULL : l;
        else if (l->shape != NOTIFY_ROW)
            head = NULL;
        if (!changed || (!is_listed(life, lists, l->old) && !is_listed(life, lists, l->now)))
            continue;
        if (head && l->shape == NOTIFY_ROW)
            lines[n++] = *head;
        head = NULL;
        lines[n++] = *l;
    }
    if (n == 0)
        return; /* nothing to be seen in the text */
    for (size_t i = 0; i < lists->nlines; i++)
        if (is_about_attribute(&lists->lines[i]))
            lines[n++] = lists->lines[i];
    lists->lines = lines;
    lists->nlines = n;
}

bool present_versions(struct arena *life, struct store *s, int64_t page_id, int64_t old_version,
        int64_t new_version, struct notify_item *item)
{
    struct notify_line *old, *now;
    size_t nold, nnow;
    if (!load(life, s, page_id, old_version, &old, &nold) ||
            !load(life, s, page_id, new_version, &now, &nnow))
        return false;
    present_pair(life, old, nold, now, nnow, item);
    return true;
}

void present_pair(struct arena *life, const struct notify_line *old, size_t nold,
        const struct notify_line *now, size_t nnow, struct notify_item *item)
{
    struct notify_part *parts = arena_array_of(life, 2, struct notify_part);
    parts[0].type = "page";
    notify_compare(life, old, nold, now, nnow, &parts[0]);
    item->ratio = notify_ratio(&parts[0]);
    for (size_t i = 0; i < item->nparts && item->look == NOTIFY_ONLY; i++)
        if (is_of_text(&item->parts[i]))
            show_where(life, &item->parts[i], &parts[0]);
    if (item->look == NOTIFY_ONLY)
        return;
    add_attributes(life, item, &parts[1]);
    item->parts = parts;
    item->nparts = parts[1].nlines ? 2 : 1;
}

bool present_wants_versions(const struct notify_item *item)
{
    if (item->look != NOTIFY_ONLY)
        return true;
    for (size_t i = 0; i < item->nparts; i++)
        if (is_of_text(&item->parts[i]))
            return true;
    return false;
}
