// The part of the page of scaling that is predicted: what overlap, plans and codecs are worth in
// worlds that nobody here has. Each cell says where it comes from: published or predicted.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "answers/horovod.h"
#include "answers/ways.h"

namespace rota::bench {

// All functions return paragraphs and tables in Markdown. Each ends in an empty line.

// Compares predictions with what Horovod has published. Leaves out the rows of a model that is not
// close, and says so.
std::string horovod_table(std::span<const ComparedRun> runs);

// Compares the ways for each of the models in one world. `title` describes the world.
std::string ways_table(const std::string& title, std::span<const Way> ways,
                       std::span<const std::string> models, const WorldModel& world);

// Compares the plans for one bucket on 512 GPUs.
std::string plans_table();

// Compares 64 workers that have 19 parameter servers with a ring of the 64 workers.
std::string servers_table();

// Says how many hosts are worth it for each model and three rates of cables.
std::string worth_table();

// Returns the whole part.
std::string answers_page();

// Returns the beginning of the part, and parameter servers alone: a test has it in seconds.
std::string few_answers_page();

}  // namespace rota::bench
