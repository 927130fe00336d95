/* The search of Pyramid Lab's solver.
 *
 * Compiled ahead of time to WebAssembly (see build.py); freestanding, no library, no allocation but one
 * growing hash table. docs/solver.md explains the method and argues why every pruning is sound; the names of
 * its sections stand in brackets below, e.g. [landmarks].
 *
 * The host fills `input`, `fresh` included, calls run(nodes) again and again until the answer is not RUNNING, and
 * reads `output`. All state lives in static memory, so a search can be left at any slice.
 *
 * Two ways to number the cards:
 *   place  the index in the deal: 0 = apex, row by row, then the stock in drawing order;
 *   id     group * 8 + side * 4 + k: group g holds ranks g+1 (side 0) and target-g-1 (side 1), so the partners
 *          of a card are four neighbouring bits. A rank that pairs with itself (half an even target) has only
 *          a side 0; cards worth the target go alone and have the ids 48..51.
 */
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name), visibility("default")))
#else
#define EXPORT(name)
#endif
#define BIT(i) (1ull << (i))
#define IDS 52
#define GROUPS 6
#define ALONE 48
#define EVERYTHING (~0ull)
#define NEVER 0xffffu    /* a time that does not come */
#define PASSES 62        /* more passes than any useful line has: see [time] */
#define DEPTH 5120       /* longest line the search can hold: see [size] */
#define NOCARD 255

enum { RUNNING, WINNABLE, UNWINNABLE, TOO_DEEP };
enum { DISCARD, DRAW, REDEAL };

/* ---- what the host writes and reads ------------------------------------------------------------------ */

struct {
    u8 rank[IDS];        /* by place */
    u8 cards, rows, target, draw, piles;
    u8 redeals;          /* left at this position, at most PASSES */
    u8 useful_redeal;
    u8 unlimited, stock_top, stock_waste, piles_pair, coverer_pairs, win_all;
    u8 next;             /* place of the next stock card, = cards if the stock is empty */
    u8 shortest;
    u8 fresh;            /* 1: this is a new question */
    u8 gone[IDS];        /* by place */
} input;

struct {
    u32 length;
    u32 nodes;
    u32 table;           /* size of the table of lost positions */
    struct { u8 kind, a, b; } line[DEPTH];  /* a, b: places, NOCARD if none */
} output;

EXPORT(input_at) void *input_at(void) { return &input; }
EXPORT(output_at) void *output_at(void) { return &output; }

/* ---- the deal, unpacked ------------------------------------------------------------------------------ */

static u32 cards, pyramid, stock, self_group, last_pass;
static u8 id_of[IDS], place_of[IDS], rank_of[IDS];
static u8 cover[IDS][2];        /* by id: ids of the two cards that cover it, NOCARD in the bottom row */
static u8 bottom_up[28];        /* ids of the pyramid, base first */
static u64 id_used, id_pyramid, place_stock;
static u64 pile_mask[3];        /* by place */

/* bit S of matchable[m]: the rows in S can all be matched in the 4 x 4 matrix m [matching] */
static u16 matchable[65536];
static u8 most_matched[65536]; /* size of a greatest matching of m */
static u8 matchable_ready;

typedef struct {
    u64 gone;            /* by id */
    u64 out;             /* the same by place */
    u64 key;
    u64 need[IDS];       /* by id: what has gone for certain once this card has gone [landmarks] */
    u16 when[IDS];       /* by id: earliest time at which it can have gone [time] */
    u8 edge[IDS];        /* by id: which of its four possible partners are still allowed; ALONE: 1 or 0 */
    u64 goal;            /* ids of the cards that have to go in every solution from here */
    u8 tried[IDS];       /* like edge: pairs tried here that may yet come later [exchange] */
    u16 steps;
    u8 next, pass, idle; /* idle: a redeal since the last discard */
    u8 kind, a, b;       /* the move that led here, ids */
    u8 fresh;            /* not yet looked at */
    u8 only;             /* the branch tried last was the only one */
    u8 last_a, last_b;   /* the branch tried last */
    u8 cut;              /* the limit played a part: what fails here fails within the budget only */
} Frame;

static Frame stack[DEPTH];
static u32 depth;
static int state;
static u8 in_pool;       /* 1: every stock card is always in reach [pool] */
static u32 limit;        /* no line longer than this; NEVER: any length */

/* ---- table of lost positions [table] ------------------------------------------------------------------ */

#define TABLE_MIN 12
#define TABLE_MAX 22
static u64 keys[3u << (TABLE_MAX - 1)];     /* 0 = empty; the last third holds the old table while it grows */
static u16 failed[3u << (TABLE_MAX - 1)];  /* budget with which the position has failed; NEVER = lost for good */
static u32 table_bits, table_count;

static void table_clear(void)
{
    table_bits = TABLE_MIN;
    table_count = 0;
    for (u32 i = 0; i < 1u << TABLE_MIN; i++) keys[i] = 0;
}

static u32 slot_of(u64 key)
{
    return (u32)((key * 0x9e3779b97f4a7c15ull) >> (64 - table_bits));
}

static u32 find(u64 key)
{
    u32 mask = (1u << table_bits) - 1, i = slot_of(key);
    while (keys[i] && keys[i] != key) i = (i + 1) & mask;
    return i;
}

static void table_grow(void)
{
    const u32 old = 1u << table_bits, aside = 1u << TABLE_MAX;
    for (u32 i = 0; i < old; i++) {
        keys[aside + i] = keys[i];
        failed[aside + i] = failed[i];
    }
    table_bits++;
    for (u32 i = 0; i < 2 * old; i++) keys[i] = 0;
    for (u32 i = aside; i < aside + old; i++) {
        if (!keys[i]) continue;
        u32 slot = find(keys[i]);
        keys[slot] = keys[i];
        failed[slot] = failed[i];
    }
}

static void mark_lost(u64 key, u32 budget)
{
    u32 i = find(key);
    if (keys[i] == key) {
        if (budget > failed[i]) failed[i] = (u16)budget;
        return;
    }
    if (table_count >= (1u << table_bits) / 4 * 3) {
        if (table_bits < TABLE_MAX) {
            table_grow();
            i = find(key);
        } else {
            /* full: forget another position; that costs time, never truth */
            i = slot_of(key);
            keys[i] = key;
            failed[i] = (u16)budget;
            return;
        }
    }
    keys[i] = key;
    failed[i] = (u16)budget;
    table_count++;
}

/* ---- the deal ----------------------------------------------------------------------------------------- */

static u32 count(u64 set) { return (u32)__builtin_popcountll(set); }
static u32 lowest(u64 set) { return (u32)__builtin_ctzll(set); }
static u32 highest(u64 set) { return 63u - (u32)__builtin_clzll(set); }

/* the first of the four ids that may pair with this one */
static u32 partners(u32 id)
{
    u32 g = id >> 3;
    if (g == self_group) return g << 3;
    return (id & ~7u) | (~id & 4u);
}

static void unpack(void)
{
    cards = input.cards;
    pyramid = (u32)input.rows * (input.rows + 1) / 2;
    stock = cards - pyramid;
    last_pass = input.unlimited ? PASSES : input.redeals;
    self_group = input.target % 2 ? 99 : input.target / 2u - 1;
    u8 seen[14] = {0};
    id_used = id_pyramid = 0;
    for (u32 place = 0; place < cards; place++) {
        u32 rank = input.rank[place], id;
        if (rank == input.target) id = ALONE;
        else if (2 * rank <= input.target) id = (rank - 1) * 8;
        else id = (input.target - rank - 1u) * 8 + 4;
        id += seen[rank]++;
        id_of[place] = (u8)id;
        place_of[id] = (u8)place;
        rank_of[id] = (u8)rank;
        id_used |= BIT(id);
        if (place < pyramid) id_pyramid |= BIT(id);
    }
    u32 place = 0;
    for (u32 row = 0; row < input.rows; row++)
        for (u32 column = 0; column <= row; column++, place++) {
            u32 last = row + 1u == input.rows;
            cover[id_of[place]][0] = last ? NOCARD : id_of[place + row + 1];
            cover[id_of[place]][1] = last ? NOCARD : id_of[place + row + 2];
            bottom_up[pyramid - 1 - place] = id_of[place];
        }
    place_stock = (BIT(stock) - 1) << pyramid;
    for (u32 pile = 0; pile < 3; pile++) {
        pile_mask[pile] = 0;
        for (u32 at = pyramid + pile; at < cards; at += 3) pile_mask[pile] |= BIT(at);
    }
    if (matchable_ready) return;
    matchable_ready = 1;
    for (u32 m = 0; m < 65536; m++) {
        u32 rows = 1, reach[16] = {0};
        for (u32 s = 1; s < 16; s++) {
            u32 low = (u32)__builtin_ctz(s), rest = s & (s - 1);
            reach[s] = reach[rest] | (m >> (4 * low) & 15);
            u32 ok = (u32)__builtin_popcount(reach[s]) >= (u32)__builtin_popcount(s);
            for (u32 i = 0; i < 4; i++)
                if (s >> i & 1 && !(rows >> (s & ~(1u << i)) & 1)) ok = 0;
            rows |= ok << s;
            if (ok && (u32)__builtin_popcount(s) > most_matched[m]) most_matched[m] = (u8)__builtin_popcount(s);
        }
        matchable[m] = (u16)rows;
    }
}

static u64 below(u32 place) { return BIT(place) - 1; }
/* places strictly between two places */
static u64 between(u32 a, u32 b) { return b > a + 1 ? below(b) & ~below(a + 1) : 0; }

/* cards in play, by id */
static u64 exposed(const Frame *f)
{
    u64 set = 0;
    for (u64 left = id_pyramid & ~f->gone; left; left &= left - 1) {
        u32 id = lowest(left);
        const u8 *c = cover[id];
        if (c[0] == NOCARD || (f->gone >> c[0] & f->gone >> c[1] & 1)) set |= BIT(id);
    }
    u64 there = place_stock & ~f->out;
    if (in_pool) {
        /* of equal cards the first stands for all [pool] */
        for (u64 left = id_used & ~id_pyramid & ~f->gone; left;) {
            u32 id = lowest(left);
            set |= BIT(id);
            left &= ~(15ull << (id & ~3u));
        }
        return set;
    }
    u64 drawn = there & below(f->next);
    if (input.piles == 3) {
        for (u32 pile = 0; pile < 3; pile++)
            if (drawn & pile_mask[pile]) set |= BIT(id_of[highest(drawn & pile_mask[pile])]);
    } else if (drawn) {
        set |= BIT(id_of[highest(drawn)]);
    }
    if (input.stock_top && f->next < cards) set |= BIT(id_of[f->next]);
    return set;
}

/* The position as an exact number: equal for two positions only if the same moves, rank by rank, are possible in both
 * [keys]. */
static u64 key_of(u64 out, u32 next, u32 pass)
{
    if (in_pool || input.piles == 3) return out | (u64)next << 52 | 1ull << 63;
    u64 set = 0;
    u32 at = pyramid;
    for (u64 left = place_stock & ~out; left; left &= left - 1) {
        u32 rank = input.rank[lowest(left)];
        while (input.rank[at] != rank) at++;
        set |= BIT(at++);
    }
    u32 waste = count(place_stock & ~out & below(next));
    return (out & below(pyramid)) | set | (u64)waste << 52 | (u64)(input.unlimited ? 63 : pass + 1) << 58;
}

/* ---- landmarks ---------------------------------------------------------------------------------------- */

static u64 base[IDS];   /* what has gone once the card lies free */
static u16 free_at[IDS];/* and since when, at the earliest */
static u64 inter[IDS];
static u16 soonest[IDS];
static u16 by_low[GROUPS], by_high[GROUPS];
static u16 group_end[IDS]; /* by place: the place the stock stands at once this card has been drawn */

static u32 now_of(const Frame *f)
{
    u32 place = f->next - pyramid;
    if (input.piles == 3) place = f->next == cards ? (place + 2) / 3 : place / 3;
    return f->pass * 64u + place;
}

static void find_group_ends(const Frame *f)
{
    if (input.piles == 3) {
        for (u32 at = pyramid; at < cards; at++) group_end[at] = (u16)((at - pyramid) / 3 + 1);
        return;
    }
    if (input.draw == 1) {
        for (u32 at = pyramid; at < cards; at++)
            group_end[at] = (u16)(at - pyramid + (input.stock_top ? 0 : 1));
        return;
    }
    u64 left = place_stock & ~f->out & ~below(f->next);
    for (u32 at = pyramid; at < f->next; at++) group_end[at] = 0;
    while (left) {
        u64 group = 0;
        for (u32 k = 0; k < input.draw && left; k++) {
            group |= left & -left;
            left &= left - 1;
        }
        u32 end = highest(group) + 1 - pyramid;
        for (; group; group &= group - 1) group_end[lowest(group)] = (u16)end;
    }
}

/* Cards that lie on the one at `place` once the stock has been drawn up to `end`. */
static u64 lying_on(const Frame *f, u32 place, u32 end)
{
    u64 on = input.piles == 3 ? between(place, pyramid + 3 * end > cards ? cards : pyramid + 3 * end)
                                    & pile_mask[(place - pyramid) % 3]
                              : between(place, pyramid + end);
    return on & ~f->out;
}

/* Earliest time from `time` on at which the stock card at `place` is in play; adds to *must what has to go first. */
static u32 in_play(const Frame *f, u32 place, u32 time, u64 *must)
{
    if (in_pool || (input.draw > 1 && input.stock_top)) return time;
    u32 pass = time >> 6, now = time & 63;
    if (input.draw > 1 && input.piles == 1 && pass > f->pass) return time;
    u32 end = now > group_end[place] ? now : group_end[place];
    u64 on = lying_on(f, place, end);
    time = pass * 64 + end;
    if (!on) return time;
    u64 first = 0;
    for (u64 rest = on; rest;) {
        u32 id = id_of[lowest(rest)];
        rest &= rest - 1;
        first |= f->need[id];
        if (f->when[id] > time) {
            /* by then more cards may lie on it */
            time = f->when[id];
            if (time >> 6 != pass) break;
            u64 more = lying_on(f, place, time & 63) & ~on;
            on |= more;
            rest |= more;
        }
    }
    if (pass >= last_pass) {
        if (time >> 6 != pass) return NEVER;
        *must |= first;
        return time;
    }
    u32 next = (pass + 1) * 64;
    if (input.draw == 1) next += group_end[place];
    return time < next ? time : next;
}

typedef struct { u32 time; u64 must; } Chance;

/* When the two cards (equal for a card alone) can go, at the earliest, and what goes first; time NEVER: not at all. */
static Chance chance(const Frame *f, u32 x, u32 z, u32 now)
{
    Chance c = {now, 0};
    u32 px = place_of[x], pz = place_of[z];
    if (px > pz) { u32 t = x; x = z; z = t; t = px; px = pz; pz = t; }
    if (px < pyramid) {
        if (input.coverer_pairs && (cover[x][0] == z || cover[x][1] == z)) {
            u32 other = cover[x][cover[x][0] == z];
            if (!(f->gone >> other & 1)) {
                c.must = f->need[other];
                c.time = f->when[other];
            }
        } else {
            c.must = base[x];
            c.time = free_at[x];
        }
        if (pz < pyramid) {
            c.must |= base[z];
            if (free_at[z] > c.time) c.time = free_at[z];
            if (c.time < now) c.time = now;
        } else if (c.time != NEVER) {
            if (c.time < now) c.time = now;
            c.time = in_play(f, pz, c.time, &c.must);
        }
    } else if (px == pz) {
        c.time = in_play(f, px, now, &c.must);
    } else if (input.piles == 3) {
        u32 t;
        do {
            t = c.time;
            c.must = 0;
            c.time = in_play(f, px, c.time, &c.must);
            if (c.time != NEVER) c.time = in_play(f, pz, c.time, &c.must);
        } while (c.time != t && c.time != NEVER);
    } else {
        /* the waste's top with the stock's: all between them have gone, and the stock stands at the later one */
        u32 ready = now;
        for (u64 mid = between(px, pz) & ~f->out; mid; mid &= mid - 1) {
            u32 id = id_of[lowest(mid)];
            c.must |= f->need[id];
            if (f->when[id] > ready) ready = f->when[id];
        }
        c.time = ready;
        if (input.draw == 1 && ready != NEVER) {
            u32 at = pz - pyramid;
            c.time = (ready & ~63u) + at;
            if (c.time < ready) c.time += 64;
            if (c.time >> 6 > last_pass) c.time = NEVER;
        }
    }
    if (c.must & (BIT(x) | BIT(z))) c.time = NEVER;
    return c;
}

static void forbid(Frame *f, u32 x, u32 z)
{
    if (x >= ALONE) { f->edge[x] = 0; return; }
    f->edge[x] &= (u8)~(1u << (z & 3));
    f->edge[z] &= (u8)~(1u << (x & 3));
}

static void pack_edges(const Frame *f, u32 g)
{
    const u8 *e = f->edge + 8 * g;
    by_low[g] = (u16)(e[0] | e[1] << 4 | e[2] << 8 | e[3] << 12);
    by_high[g] = (u16)(e[4] | e[5] << 4 | e[6] << 8 | e[7] << 12);
}

/* whether the cards of `set` in group g can all be matched, `low` and `high` being the matrices to use */
static int matches(u64 set, u32 g, u32 low, u32 high)
{
    u32 s = (u32)(set >> 8 * g) & 255;
    return (matchable[low] >> (s & 15) & 1) && (matchable[high] >> (s >> 4) & 1);
}

/* whether `set` can still be matched if x and z go together */
static int matches_with(u64 set, u32 x, u32 z)
{
    if (x >= ALONE) return 1;
    u32 g = x >> 3, low = by_low[g], high = by_high[g];
    u32 i = x & 3, j = z & 3;
    if (g == self_group) {
        low &= ~(15u << 4 * i) & ~(15u << 4 * j) & ~(0x1111u << i) & ~(0x1111u << j);
    } else {
        if (x & 4) { u32 t = i; i = j; j = t; }
        low &= ~(15u << 4 * i) & ~(0x1111u << j);
        high &= ~(15u << 4 * j) & ~(0x1111u << i);
    }
    return matches(set & ~BIT(x) & ~BIT(z), g, low, high);
}

/* Brings need, when and edge of the frame nearer to their fixpoint, which pays for so many sweeps only: what is left out
 * is left to the positions that follow, since they begin where this one stops. 0: no solution from here. */
#define SWEEPS 2
#define SWEEPS_SHORTEST 1

static int propagate(Frame *f)
{
    u32 now = now_of(f);
    u64 left = id_used & ~f->gone;
    u64 pyramid_left = left & id_pyramid;
    f->goal = input.win_all ? left : pyramid_left;
    find_group_ends(f);
    u32 sweeps = limit == NEVER ? SWEEPS : SWEEPS_SHORTEST;
    for (u32 changed = 1; changed && sweeps; sweeps--) {
        changed = 0;
        for (u32 k = 0; k < pyramid; k++) {
            u32 id = bottom_up[k];
            if (!(pyramid_left >> id & 1)) continue;
            u64 b = 0;
            u32 t = now;
            for (u32 side = 0; side < 2; side++) {
                u32 c = cover[id][side];
                if (c == NOCARD || f->gone >> c & 1) continue;
                b |= f->need[c];
                if (f->when[c] > t) t = f->when[c];
            }
            base[id] = b;
            free_at[id] = (u16)t;
        }
        for (u64 s = left; s; s &= s - 1) {
            u32 id = lowest(s);
            inter[id] = EVERYTHING;
            soonest[id] = NEVER;
        }
        for (u32 g = 0; g < GROUPS; g++) pack_edges(f, g);
        for (u32 g = 0; g < GROUPS; g++)
            if (!matches(f->goal, g, by_low[g], by_high[g])) return 0;
        for (u64 s = left; s; s &= s - 1) {
            u32 x = lowest(s), first = partners(x);
            for (u32 e = f->edge[x]; e; e &= e - 1) {
                u32 z = x >= ALONE ? x : first + (u32)__builtin_ctz(e);
                if (z < x) continue;
                Chance c = chance(f, x, z, now);
                int possible = c.time != NEVER;
                if (possible) {
                    c.must &= left;
                    u64 all = f->goal | c.must;
                    possible = matches_with(all, x, z);
                    for (u32 g = 0; possible && g < GROUPS; g++)
                        if ((c.must & ~f->goal) >> 8 * g & 255 && g != x >> 3)
                            possible = matches(all, g, by_low[g], by_high[g]);
                }
                if (!possible) {
                    forbid(f, x, z);
                    if (x < ALONE) pack_edges(f, x >> 3);
                    changed = 1;
                    continue;
                }
                inter[x] &= c.must | BIT(z);
                inter[z] &= c.must | BIT(x);
                if (c.time < soonest[x]) soonest[x] = (u16)c.time;
                if (c.time < soonest[z]) soonest[z] = (u16)c.time;
            }
        }
        u64 goal = f->goal;
        for (u64 s = left; s; s &= s - 1) {
            u32 id = lowest(s);
            u64 need = soonest[id] == NEVER ? EVERYTHING : f->need[id] | inter[id] | BIT(id);
            if (BIT(id) & id_pyramid) need |= base[id];
            u16 when = soonest[id] > f->when[id] ? soonest[id] : f->when[id];
            if (need != f->need[id] || when != f->when[id]) {
                f->need[id] = need;
                f->when[id] = when;
                changed = 1;
            }
            if (f->goal >> id & 1) {
                if (need == EVERYTHING) return 0;
                goal |= need;
            }
        }
        f->goal = goal & left;
    }
    return 1;
}

/* ---- lower bound of the steps to come [bound] ---------------------------------------------------------- */

/* how often the card at `place` is passed by, so drawn unless it has gone, until the goal can be reached */
static u32 passes_over(u32 place, u32 now, u32 goal)
{
    u32 at = place - pyramid, from = now & 63, to = goal & 63, more = (goal >> 6) - (now >> 6);
    if (!more) return at >= from && at < to;
    return (at >= from) + (more - 1) + (at < to);
}

/* saved[n]: draws saved at most when n cards of the set leave the stock early */
static void savings(const Frame *f, u64 set, u32 now, u32 goal, u32 saved[9])
{
    u32 most[8], n = 0;
    for (; set; set &= set - 1) {
        u32 place = place_of[lowest(set)], times = passes_over(place, now, goal);
        if (!input.stock_top && times && place >= f->next) times--; /* it has to be drawn to be in play */
        u32 k = n++;
        for (; k && most[k - 1] < times; k--) most[k] = most[k - 1];
        most[k] = times;
    }
    saved[0] = 0;
    for (u32 k = 0; k < 8; k++) saved[k + 1] = saved[k] + (k < n ? most[k] : 0);
}

static u32 bound(const Frame *f)
{
    u64 left = id_used & ~f->gone, in_pyramid = left & id_pyramid, in_stock = left & ~id_pyramid;
    u32 now = now_of(f), goal = now;
    for (u64 s = f->goal; s; s &= s - 1)
        if (f->when[lowest(s)] > goal) goal = f->when[lowest(s)];
    u32 redeals = (goal >> 6) - (now >> 6), draws = 0, in_turn = input.draw == 1;
    if (input.piles == 3) {
        /* a draw passes over thirds of the stock that have gone already */
        for (u32 k = now; k < goal; k++)
            draws += (place_stock & ~f->out & ~below(f->next) & between(pyramid + 3 * k - 1, pyramid + 3 * k + 3)) != 0;
    } else if (in_turn) {
        for (u64 s = in_stock; s; s &= s - 1) draws += passes_over(place_of[lowest(s)], now, goal);
    } else if (!input.stock_top) {
        u64 undrawn = place_stock & ~f->out & ~below(f->next);
        if (!redeals) undrawn &= below(pyramid + (goal & 63));
        draws = (count(undrawn) + input.draw - 1) / input.draw;
    }
    u32 steps = redeals + draws + count((input.win_all ? left : in_pyramid) >> ALONE);
    u32 saved_low[9] = {0}, saved_high[9] = {0};
    if (in_turn)
        for (u64 s = in_stock >> ALONE; s; s &= s - 1) {
            savings(f, s << ALONE & -(s << ALONE), now, goal, saved_low);
            if (input.win_all) steps -= saved_low[1];
            else if (saved_low[1] > 1) steps -= saved_low[1] - 1;
        }
    for (u32 g = 0; g < GROUPS; g++) {
        u64 low = left & 15ull << 8 * g, high = left & 240ull << 8 * g;
        if (!(low | high)) continue;
        u32 low_pyramid = count(low & in_pyramid), high_pyramid = count(high & in_pyramid);
        u32 low_stock = count(low) - low_pyramid, high_stock = count(high) - high_pyramid;
        if (in_turn) {
            savings(f, low & in_stock, now, goal, saved_low);
            savings(f, high & in_stock, now, goal, saved_high);
        }
        if (input.win_all) {
            steps += g == self_group ? (count(low) + 1) / 2 : count(low) > count(high) ? count(low) : count(high);
            steps -= saved_low[low_stock] + saved_high[high_stock];
            continue;
        }
        /* try every number of pairs inside the pyramid and inside the stock */
        pack_edges(f, g);
        u32 in_rows = (u32)((low & in_pyramid) >> 8 * g) & 15, in_columns = (u32)((high & in_pyramid) >> (8 * g + 4)) & 15;
        if (g == self_group) in_columns = in_rows;
        u32 m = 0;
        for (u32 i = 0; i < 4; i++)
            if (in_rows >> i & 1) m |= (by_low[g] >> 4 * i & in_columns) << 4 * i;
        u32 inside = most_matched[m];
        if (g == self_group) inside /= 2;
        u32 drawn = 0;
        for (u64 s = (low | high) & in_stock; s; s &= s - 1) drawn |= place_of[lowest(s)] < f->next;
        u32 pair_cost = in_turn && drawn ? 1 : 2, least = 999;
        for (u32 k = 0; k <= inside; k++) {
            u32 from_low, from_high;
            if (g == self_group) {
                from_low = low_pyramid - 2 * k;
                from_high = 0;
            } else {
                from_low = high_pyramid - k;
                from_high = low_pyramid - k;
            }
            if (from_low > low_stock || from_high > high_stock) continue;
            u32 discards = low_pyramid + high_pyramid - k;
            u32 extra = 0;
            if (in_turn && input.stock_waste)
                extra = g == self_group ? (low_stock - from_low) / 2
                      : low_stock - from_low < high_stock - from_high ? low_stock - from_low : high_stock - from_high;
            for (u32 j = 0; j <= extra; j++) {
                u32 cost = discards + j * pair_cost + 64;
                if (g == self_group) cost -= saved_low[from_low + 2 * j];
                else cost -= saved_low[from_low + j] + saved_high[from_high + j];
                if (cost < least) least = cost;
            }
        }
        if (least == 999) return NEVER;
        steps = steps + least - 64;
    }
    return steps;
}

/* ---- the search ---------------------------------------------------------------------------------------- */

static u32 waste_count(const Frame *f) { return count(place_stock & ~f->out & below(f->next)); }

/* [exchange]: may a discard that is legal now and comes later in a solution as well come now? */
static int exchangeable(const Frame *f, u32 x, u32 z)
{
    if (in_pool || input.piles == 3) return 1;
    if (input.useful_redeal > 2 && f->pass < last_pass) return 0;
    if (input.draw == 1 || (id_pyramid >> x & id_pyramid >> z & 1)) return 1;
    return f->pass == last_pass && !input.stock_top;
}

/* Whether two partners are in play together, in_hand being the exposed cards. */
static int together(const Frame *f, u64 in_hand, u32 x, u32 z)
{
    u64 pair = BIT(x) | BIT(z);
    if ((in_hand & pair) == pair) return 1;
    if (!input.coverer_pairs || !(in_hand & pair) || x == z || (pair & id_pyramid) != pair) return 0;
    u32 under = in_hand >> x & 1 ? z : x, on = x + z - under;
    const u8 *c = cover[under];
    if (c[0] == on) return f->gone >> c[1] & 1;
    return c[1] == on && (f->gone >> c[0] & 1);
}

/* Whether the rules allow a discard here, forbidden ones of this search included. */
static int any_discard(const Frame *f, u64 in_hand)
{
    if (in_hand >> ALONE) return 1;
    for (u64 s = in_hand; s; s &= s - 1) {
        u32 x = lowest(s);
        for (u64 with = id_used & ~f->gone & 15ull << partners(x) & ~BIT(x); with; with &= with - 1) {
            u32 z = lowest(with);
            int allowed = input.stock_waste || input.piles_pair || ((BIT(x) | BIT(z)) & id_pyramid);
            if (allowed && together(f, in_hand, x, z)) return 1;
        }
    }
    return 0;
}

static u32 next_from(u32 at, u64 out)
{
    while (at < cards && out >> at & 1) at++;
    return at;
}

static void take(Frame *f, u32 x, u32 z)
{
    for (u32 k = 0; k < 2; k++) {
        u32 id = k ? z : x;
        if (k && z == x) break;
        f->gone |= BIT(id);
        f->out |= BIT(place_of[id]);
        u32 first = partners(id);
        if (id < ALONE)
            for (u32 e = f->edge[id]; e; e &= e - 1) f->edge[first + (u32)__builtin_ctz(e)] &= (u8)~(1u << (id & 3));
        f->edge[id] = 0;
    }
    if (!in_pool) f->next = (u8)next_from(f->next, f->out);
    f->idle = 0;
}

static int won(const Frame *f) { return !((input.win_all ? id_used : id_pyramid) & ~f->gone); }

static u32 budget_of(const Frame *f) { return limit == NEVER ? NEVER : limit - f->steps; }

/* Whether the position with this key, one step from f, is known to fail. */
static int is_lost(Frame *f, u64 key)
{
    if (f->steps + 1u > limit) {
        f->cut = 1;
        return 1;
    }
    u32 i = find(key);
    if (keys[i] != key || failed[i] < (limit == NEVER ? NEVER : limit - f->steps - 1)) return 0;
    if (failed[i] != NEVER) f->cut = 1;
    return 1;
}

static int is_lost_after(Frame *f, u32 x, u32 z)
{
    u64 out = f->out | BIT(place_of[x]) | BIT(place_of[z]);
    return is_lost(f, key_of(out, in_pool ? f->next : next_from(f->next, out), f->pass));
}

/* Puts the child on the stack, unless it is known to be lost: then 0. */
static int push(Frame *f, u32 kind, u32 x, u32 z)
{
    u32 next = f->next, pass = f->pass;
    if (kind == DRAW) {
        if (input.piles == 3) {
            u32 at = pyramid + ((next - pyramid) / 3 + 1) * 3;
            next = next_from(at < cards ? at : cards, f->out);
        } else {
            for (u32 k = 0; k < input.draw && next < cards; k++) next = next_from(next + 1, f->out);
        }
    } else if (kind == REDEAL) {
        next = next_from(pyramid, f->out);
        if (!input.unlimited) pass++;
    }
    if (kind != DISCARD && is_lost(f, key_of(f->out, next, pass))) return 0;
    Frame *c = f + 1;
    *c = *f;
    c->kind = (u8)kind;
    c->a = (u8)x;
    c->b = (u8)z;
    c->steps++;
    c->fresh = 1;
    c->next = (u8)next;
    c->pass = (u8)pass;
    for (u32 id = 0; id < IDS; id++) c->tried[id] = 0;
    if (kind == DISCARD) take(c, x, z);
    if (kind == REDEAL) {
        c->idle = 1;
        if (input.unlimited)
            for (u32 id = 0; id < IDS; id++) /* the clock starts again */
                if (c->when[id] != NEVER) c->when[id] = (u16)(c->when[id] > 64 ? c->when[id] - 64 : 0);
    }
    c->key = key_of(c->out, c->next, c->pass);
    depth++;
    return 1;
}

static void fail(void)
{
    Frame *f = &stack[depth - 1];
    mark_lost(f->key, f->cut ? budget_of(f) : NEVER);
    depth--;
    if (depth) stack[depth - 1].cut |= f->cut;
}

/* the branch is known to fail: forbid it from here on if that is sound, else only here */
static void rule_out(Frame *f, u32 x, u32 z)
{
    if (!exchangeable(f, x, z)) {
        f->tried[x] |= (u8)(1u << (z & 3));
        return;
    }
    if (in_pool && !(id_pyramid >> x & id_pyramid >> z & 1)) {
        u32 card = id_pyramid >> x & 1 ? x : z, first = partners(card);
        for (u32 k = 0; k < 4; k++)
            if (!(id_pyramid >> (first + k) & 1) && f->edge[card] >> k & 1) forbid(f, card, first + k);
        return;
    }
    forbid(f, x, z);
}

/* [pool]: does the stock hold a partner for every pyramid card of both ranks? */
static int covered_by_pool(const Frame *f, u32 x)
{
    u64 own = 15ull << (x & ~3u), other = 15ull << partners(x);
    u64 in_pyramid = id_pyramid & ~f->gone, in_stock = id_used & ~id_pyramid & ~f->gone;
    return count(other & in_stock) >= count(own & in_pyramid) && count(own & in_stock) >= count(other & in_pyramid)
        && own != other;
}

/* A discard that can be made at once, whatever else there is: a card alone in the pyramid [exchange], or a card whose
 * ranks the stock covers on both sides [pool]. */
static int free_discard(const Frame *f, u64 in_hand, u32 *x, u32 *z)
{
    u64 open = in_hand & id_pyramid;
    u64 alone = open >> ALONE << ALONE;
    if (alone && exchangeable(f, lowest(alone), lowest(alone))) {
        *x = *z = lowest(alone);
        return 1;
    }
    if (!in_pool) return 0;
    for (; open; open &= open - 1) {
        u32 id = lowest(open), first = partners(id);
        u64 with = in_hand & ~id_pyramid & (u64)f->edge[id] << first;
        if (with && covered_by_pool(f, id)) {
            *x = id;
            *z = lowest(with);
            return 1;
        }
    }
    return 0;
}

static void step(void)
{
    Frame *f = &stack[depth - 1];
    if (!f->fresh) {
        if (f->only) { fail(); return; }
        rule_out(f, f->last_a, f->last_b);
    }
    u64 in_hand = exposed(f);
    u32 x, z;
    if (f->fresh && free_discard(f, in_hand, &x, &z)) {
        f->fresh = 0;
        f->only = 1;
        if (is_lost_after(f, x, z)) fail();
        else push(f, DISCARD, x, z);
        return;
    }
    f->fresh = 0;
again:
    if (limit != NEVER && f->steps + bound(f) > limit) {
        /* the landmarks of the position before hold here too, and are to be had for nothing */
        f->cut = 1;
        fail();
        return;
    }
    if (!propagate(f)) { fail(); return; }
    if (limit != NEVER) {
        u32 to_come = bound(f);
        if (to_come == NEVER) { fail(); return; }
        if (f->steps + to_come > limit) {
            f->cut = 1;
            fail();
            return;
        }
    }
    u32 best = 0, best_x = 0, best_z = 0, forced = 0, ruled_out = 0;
    for (u64 s = id_used & ~f->gone; s && !forced; s &= s - 1) {
        u32 x = lowest(s), first = partners(x);
        for (u32 e = f->edge[x] & ~f->tried[x]; e; e &= e - 1) {
            u32 z = x >= ALONE ? x : first + (u32)__builtin_ctz(e);
            if (z < x) continue;
            u64 pair = BIT(x) | BIT(z);
            if (f->tried[z] >> (x & 3) & 1) continue;
            if (!together(f, in_hand, x, z)) continue;
            if (is_lost_after(f, x, z)) {
                rule_out(f, x, z);
                ruled_out = 1;
                continue;
            }
            u32 in_pyramid = count(pair & id_pyramid), weight;
            if (exchangeable(f, x, z)) {
                if (x >= ALONE) {
                    forced = limit == NEVER || (pair & f->goal) != 0;
                } else if (pair & f->goal) {
                    u32 g = x >> 3;
                    pack_edges(f, g);
                    u32 i = x & 3, j = z & 3, low = by_low[g], high = by_high[g];
                    if (g == self_group) {
                        low &= ~(1u << (4 * i + j)) & ~(1u << (4 * j + i));
                    } else {
                        if (x & 4) { u32 t = i; i = j; j = t; }
                        low &= ~(1u << (4 * i + j));
                        high &= ~(1u << (4 * j + i));
                    }
                    forced = !matches(f->goal, g, low, high);
                }
            }
            u32 ways = count(f->edge[x]) + count(f->edge[z]);
            weight = 3 + (8 - ways) * 4 + in_pyramid;
            if (x >= ALONE) weight = input.stock_top && place_of[x] == f->next ? 1 : 2;
            if (forced || weight > best) {
                best = weight;
                best_x = x;
                best_z = z;
            }
            if (forced) break;
        }
    }
    if (ruled_out && !forced) goto again;
    if (best) {
        /* nothing else is left, so the stock's king may as well go as be drawn [exchange] */
        f->only = (u8)(forced || (best == 1 && exchangeable(f, best_x, best_x)));
        f->last_a = (u8)best_x;
        f->last_b = (u8)best_z;
        push(f, DISCARD, best_x, best_z);
        return;
    }
    f->only = 1;
    if (!in_pool && f->next < cards) {
        if (!push(f, DRAW, NOCARD, NOCARD)) fail();
        return;
    }
    u32 waste = waste_count(f);
    if (in_pool || f->pass >= last_pass || f->idle || waste < 2
        || (waste < input.useful_redeal && !any_discard(f, in_hand)) || !push(f, REDEAL, NOCARD, NOCARD))
        fail();
}

static void put(u32 kind, u32 a, u32 b)
{
    if (output.length >= DEPTH) return;
    output.line[output.length].kind = (u8)kind;
    output.line[output.length].a = (u8)a;
    output.line[output.length++].b = (u8)b;
}

static void write_line(void)
{
    output.length = 0;
    if (!in_pool) {
        for (u32 k = 1; k < depth; k++) {
            const Frame *f = &stack[k];
            if (f->kind == DISCARD) put(DISCARD, place_of[f->a], f->b == f->a ? NOCARD : place_of[f->b]);
            else put(f->kind, NOCARD, NOCARD);
        }
        return;
    }
    /* bring each stock card to hand by draws and redeals */
    u64 out = stack[0].out;
    u32 next = stack[0].next;
    for (u32 k = 1; k < depth; k++) {
        u32 a = place_of[stack[k].a], b = place_of[stack[k].b];
        if (a > b) { u32 t = a; a = b; b = t; }
        if (b >= pyramid) {
            u32 rank = input.rank[b];
            for (;;) {
                u64 waste = place_stock & ~out & below(next);
                b = waste ? highest(waste) : NOCARD;
                if (waste && input.rank[b] == rank) break;
                if (input.stock_top && next < cards && input.rank[next] == rank) { b = next; break; }
                if (next < cards) {
                    put(DRAW, NOCARD, NOCARD);
                    next = next_from(next + 1, out);
                } else {
                    put(REDEAL, NOCARD, NOCARD);
                    next = next_from(pyramid, out);
                }
            }
        }
        put(DISCARD, a, a == b ? NOCARD : b);
        out |= BIT(a) | BIT(b);
        next = next_from(next, out);
    }
}

static void root(void)
{
    Frame *f = &stack[0];
    f->gone = f->out = 0;
    for (u32 place = 0; place < cards; place++)
        if (input.gone[place]) {
            f->gone |= BIT(id_of[place]);
            f->out |= BIT(place);
        }
    f->next = input.next;
    f->pass = f->idle = f->cut = 0;
    f->steps = 0;
    f->fresh = 1;
    u64 left = id_used & ~f->gone;
    for (u32 x = 0; x < IDS; x++) {
        f->need[x] = 0;
        f->when[x] = 0;
        f->edge[x] = f->tried[x] = 0;
        if (!(left >> x & 1)) continue;
        if (x >= ALONE) { f->edge[x] = !in_pool || place_of[x] < pyramid; continue; }
        for (u32 k = 0; k < 4; k++) {
            u32 z = partners(x) + k, a = place_of[x], b = place_of[z];
            if (z == x || !(left >> z & 1)) continue;
            if (a >= pyramid && b >= pyramid) {
                if (in_pool || !(input.piles == 3 ? input.piles_pair && a % 3 != b % 3 : input.stock_waste)) continue;
            }
            f->edge[x] |= (u8)(1u << k);
        }
    }
    f->key = key_of(f->out, f->next, f->pass);
    depth = 1;
}

static void start(void)
{
    unpack();
    output.nodes = output.length = 0;
    in_pool = !input.win_all && input.piles == 1 && input.draw == 1 && input.unlimited && input.useful_redeal <= 2;
    limit = NEVER;
    table_clear();
    root();
    state = won(&stack[0]) ? WINNABLE : RUNNING;
}

/* [shortest]: look again for a line no longer than `most` */
static void start_again(u32 most)
{
    if (in_pool) table_clear(); /* the keys of the relaxation mean something else */
    in_pool = 0;
    limit = most;
    root();
}

static void found(void)
{
    write_line();
    if (input.shortest && output.length > 1) start_again(output.length - 1);
    else state = WINNABLE;
}

static void exhausted(void)
{
    state = limit == NEVER ? UNWINNABLE : WINNABLE; /* nothing is shorter than the line at hand */
}

EXPORT(run) int run(u32 nodes)
{
    if (input.fresh) {
        input.fresh = 0;
        start();
    }
    for (; state == RUNNING && nodes; nodes--) {
        if (!depth) { exhausted(); continue; }
        output.nodes++;
        step();
        if (depth && won(&stack[depth - 1])) found();
        else if (depth >= DEPTH - 2) state = TOO_DEEP;
    }
    output.table = 1u << table_bits;
    return state;
}
